package io.farheap.soak;

import java.util.List;

/** Starts the soak's processes. */
public interface SoakHost {

    /** Returns when the server listens. */
    SoakServer startServer(long memoryBytes, long regionBytes);

    /** @param arguments of {@link SoakTenant#main} */
    SoakClient startClient(List<String> arguments);

    /** Of the servers' leases. */
    long leaseNanos();
}
