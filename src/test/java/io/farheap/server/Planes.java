package io.farheap.server;

import io.farheap.control.plane.ControlPlane;

/** Gives tests of other packages the plane of a memory server that its control server calls. */
public final class Planes {

    private Planes() {}

    public static ControlPlane of(MemoryServer server) {
        return server.plane();
    }
}
