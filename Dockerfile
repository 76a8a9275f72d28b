# Debian 13 with everything that ./climb needs, and a checkout that belongs to an unprivileged user.
#
#   docker build --tag staircase .
#   docker run --interactive --tty staircase          runs the main job
#   docker run --interactive --tty staircase bash     opens a shell in the checkout
#
# No GPU is needed. With NVIDIA's container toolkit, add --gpus all; CUDA's compiler is not part of this image.
FROM debian:trixie
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash student
COPY --chown=student:student . /home/student/staircase
WORKDIR /home/student/staircase
RUN ./climb --yes setup \
 && chown --recursive student:student . \
 && rm -rf /var/lib/apt/lists/*
USER student
CMD ["./climb"]
