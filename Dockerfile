# The image that `npm run image` makes, by the same steps.
FROM node:26-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY scripts/setup.mjs scripts/
RUN npm run setup
COPY . .
RUN npm run image

FROM scratch
COPY --from=build /src/dist/image/root /
USER 65532:65532
ENV PATH=/usr/local/bin
ENTRYPOINT ["/usr/local/bin/kube-controller-manager"]
