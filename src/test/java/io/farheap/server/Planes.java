package io.farheap.server;

import io.farheap.control.plane.ControlPlane;

/** For tests of other packages: what a memory server's control server calls. */
public final class Planes {

    private Planes() {}

    public static ControlPlane of(MemoryServer server) {
        return server.plane();
    }
}
