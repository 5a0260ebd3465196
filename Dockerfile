FROM node:26-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY scripts/setup.mjs scripts/
RUN npm run setup
COPY . .
RUN npm run build:binary
# The executable, the shared libraries it is linked to, and nothing else: no shell, no package manager.
RUN mkdir -p /rootfs/tmp /rootfs/usr/local/bin && chmod 1777 /rootfs/tmp \
 && ldd dist/kube-controller-manager | grep -o '/[^ ]*' | xargs -I{} cp --parents -L {} /rootfs \
 && cp dist/kube-controller-manager /rootfs/usr/local/bin/

FROM scratch
COPY --from=build /rootfs /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/kube-controller-manager"]
