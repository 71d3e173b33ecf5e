# The page and the HTTP API of an index, which is mounted at /index. The base install: no torch, no compiler.
#   docker build -t mpbert .                                      (podman build does the same)
#   docker run -p 8000:8000 -v "$PWD/runs/index/mine:/index:ro" -e MPBERT_TOKEN=secret mpbert
# With PDF files on the page: docker build --build-arg EXTRAS=[pdf] -t mpbert .
FROM python:3.11-slim AS build
ARG EXTRAS=""
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY mpbert mpbert
RUN python -m venv /opt/mpbert && /opt/mpbert/bin/pip install --no-cache-dir ".${EXTRAS}"

FROM python:3.11-slim
COPY --from=build /opt/mpbert /opt/mpbert
ENV PATH=/opt/mpbert/bin:$PATH
# by its number: who runs it can tell that it is not root
RUN useradd --uid 10001 --no-create-home mpbert
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["mpbert"]
CMD ["serve", "/index", "--host", "0.0.0.0", "--port", "8000"]
