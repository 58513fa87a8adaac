//! blocklint_java
