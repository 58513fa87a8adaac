# blocklint out of its released wheel, for CI that runs images: `docker run --rm --volume "$PWD:/io" blocklint check`.
# pip on Alpine takes the wheel for musl, of which the image needs one file: nothing of Python is in it.
FROM python:3.13-alpine AS wheel
ARG VERSION=0.1.0
RUN pip install --no-cache-dir --no-deps --only-binary :all: --target /wheel "blocklint-async==${VERSION}"

FROM alpine:3.22
# --since, --changed and --staged ask git what was there before.
RUN apk add --no-cache "git=~2"
COPY --from=wheel /wheel/bin/blocklint /usr/local/bin/blocklint
USER 65534:65534
WORKDIR /io
ENTRYPOINT ["blocklint"]
CMD ["help"]
