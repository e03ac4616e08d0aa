package io.farheap.migration;

import io.farheap.control.RegionGrant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import sun.reflect.ReflectionFactory;

/** Regions for stress tests, of a server that is never called: making millions of them must cost nothing. */
public final class Regions {

    public static final long BYTES = 8;
    /** Ids. */
    public static final int OLD = 1;

    public static final int NEW = 2;

    private static final RemoteServer SERVER = blankServer();

    private Regions() {}

    /** @param id its number, its address and its key */
    public static RemoteRegion region(int id) {
        return new RemoteRegion(SERVER, 0, new RegionGrant(id, id, id, 0), 0);
    }

    private static RemoteServer blankServer() {
        try {
            return (RemoteServer) ReflectionFactory.getReflectionFactory()
                    .newConstructorForSerialization(LeasedServer.class, Object.class.getDeclaredConstructor())
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
