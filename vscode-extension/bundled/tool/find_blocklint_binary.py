"""Print the path of the binary that comes with the environment's package `blocklint`; nothing where there is none."""

if __name__ == "__main__":
    try:
        from blocklint import find_blocklint_bin

        print(find_blocklint_bin())
    except (ImportError, FileNotFoundError):
        pass
