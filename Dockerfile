# syntax=docker/dockerfile:1

# The full image has a compiler: a native package may have no binary for this platform.
FROM node:26-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json ./console/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run pack -- --pack-destination /tmp
WORKDIR /installed
RUN npm install --no-audit --no-fund /tmp/rowhouse-*.tgz

FROM node:26-bookworm-slim
# SQLite writes large sorts to temporary files. They belong on the disk of the data, because /tmp may be in memory.
# MALLOC_ARENA_MAX: docs/decisions/0038-large-values.md.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    SQLITE_TMPDIR=/data \
    MALLOC_ARENA_MAX=2 \
    PATH=/app/node_modules/.bin:$PATH
WORKDIR /app
COPY --from=build /installed/node_modules ./node_modules
# A new volume gets the owner of the directory that it is mounted on.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
# Checks only that the process responds. /health/ready also fails when the disk is full, which a restart cannot fix.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["rowhouse", "health"]
CMD ["rowhouse", "serve"]
