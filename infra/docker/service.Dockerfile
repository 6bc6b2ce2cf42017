# One image per service, from the top folder:
#   docker build -f infra/docker/service.Dockerfile --build-arg SERVICE=beacon -t adcap-beacon .
# The source runs as it is; there is nothing to compile. Works with the classic builder and with BuildKit.
FROM node:24-bookworm-slim AS manifests
WORKDIR /app
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY packages packages
COPY services services
COPY infra infra
RUN find packages services infra -type f ! -name package.json -delete

# Changes only with a manifest, so that a changed line of source installs nothing again.
FROM node:24-bookworm-slim AS dependencies
ARG SERVICE
WORKDIR /app
COPY --from=manifests /app ./
RUN npx -y pnpm@12 install --prod --frozen-lockfile --filter-prod "@adcap/${SERVICE}..."

FROM node:24-bookworm-slim
ARG SERVICE
# Where the service is: services/ or infra/.
ARG FOLDER=services
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app ./
COPY packages packages
COPY infra/kafka/topics.json infra/kafka/topics.json
COPY ${FOLDER}/${SERVICE} ${FOLDER}/${SERVICE}
WORKDIR /app/${FOLDER}/${SERVICE}
USER node
CMD ["node", "src/main.ts"]
