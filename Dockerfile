FROM node:26-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY scripts/setup.mjs scripts/
RUN npm run setup
COPY . .
RUN npm run build
# Node, the bundle with its compiled code, the shared libraries they need, and nothing else: no shell, no package
# manager.
RUN mkdir -p /usr/local/lib/kube-controller-manager /rootfs/tmp && chmod 1777 /rootfs/tmp \
 && cp dist/kube-controller-manager.mjs dist/program.* /usr/local/lib/kube-controller-manager/ \
 && ln -s /usr/local/lib/kube-controller-manager/kube-controller-manager.mjs /usr/local/bin/kube-controller-manager \
 && kube-controller-manager --version \
 && ldd /usr/local/bin/node | grep -o '/[^ ]*' | xargs -I{} cp --parents -L {} /rootfs \
 && cp --parents -r /usr/local/bin/node /usr/local/lib/kube-controller-manager /rootfs \
 && cp --parents -P /usr/local/bin/kube-controller-manager /rootfs

FROM scratch
COPY --from=build /rootfs /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/kube-controller-manager"]
