FROM node:26-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY scripts/setup.mjs scripts/
RUN npm run setup
COPY . .
# Node, the program, the shared libraries they need, and nothing else: no shell, no package manager.
RUN install -D node_modules/node/bin/node /rootfs/usr/local/bin/node \
 && cp -f node_modules/node/bin/node /usr/local/bin/node \
 && /usr/local/bin/node scripts/build.ts --out /usr/local/lib/kube-controller-manager \
 && rm /usr/local/lib/kube-controller-manager/program.cjs \
 && ln -s /usr/local/lib/kube-controller-manager/kube-controller-manager /usr/local/bin/kube-controller-manager \
 && kube-controller-manager --version \
 && mkdir -p /rootfs/tmp && chmod 1777 /rootfs/tmp \
 && ldd /usr/local/bin/node | grep -o '/[^ ]*' | xargs -I{} cp --parents -L {} /rootfs \
 && cp --parents -r /usr/local/lib/kube-controller-manager /rootfs \
 && cp --parents -P /usr/local/bin/kube-controller-manager /rootfs

FROM scratch
COPY --from=build /rootfs /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/kube-controller-manager"]
