package io.farheap.cache.managed;

import io.farheap.control.SignedGrant;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.remote.contract.RemoteRegion;
import java.util.List;
import java.util.function.Supplier;

/** A cache, as its management knows it: as {@code Cache} has them. */
public interface ManagedCache {

    List<String> servers();

    long capacity();

    int regions();

    /** With no move or change of the capacity meanwhile. */
    <T> T unmoved(Supplier<T> action);

    /** Regions of one of its servers. */
    List<RemoteRegion> take(String address, int regions);

    String serverOf(int region);

    /** The order in which they are to leave where time is short. */
    List<Integer> hottestFirst(List<Integer> regions);

    /** Whether a region, or some of it, is on a server. */
    boolean uses(int region, String address);

    /** A server may be gone: its lease is to say so. Does not wait. */
    void doubt(String address);

    /** Whether it has a lease there that holds. */
    boolean serves(String address);

    void addServer(String address);

    /** Of a server that it has. */
    void showGrant(String address, SignedGrant grant);

    /** Off a server that is to be retired then; {@link #stay} says that it is not. */
    MigrationResult migrate(List<Integer> regions, String from, String to, MigrationOptions how);

    void stay();

    void retire(String address);
}
