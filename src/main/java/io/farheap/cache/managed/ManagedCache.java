package io.farheap.cache.managed;

import io.farheap.control.SignedGrant;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.remote.contract.RemoteRegion;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A cache, as its management uses it. Methods without a comment are those of {@code Cache}. */
public interface ManagedCache {

    List<String> servers();

    long capacity();

    int regions();

    /** Runs an action while no region moves and the capacity does not change. */
    <T> T unmoved(Supplier<T> action);

    /** Allocates regions on one of its servers. */
    List<RemoteRegion> take(String address, int regions);

    String serverOf(int region);

    /** Sorts regions by their use, the hottest first: the order in which they leave a server if time is short. */
    List<Integer> hottestFirst(List<Integer> regions);

    /** Whether a region, or a part of it, is on a server. */
    boolean uses(int region, String address);

    /** Makes the lease on a server that may be gone check that it is alive. Does not wait. */
    void doubt(String address);

    /** Whether it has a valid lease on a server. */
    boolean serves(String address);

    void addServer(String address);

    /** Shows a new grant to a server that it uses. */
    void showGrant(String address, SignedGrant grant);

    /**
     * Moves regions off a server that {@link #retire} ends then; if it stays in use, the caller calls {@link #stay}.
     *
     * @param givesWay asked before each region: if it is true, the others stay
     */
    MigrationResult migrate(
            List<Integer> regions, String from, String to, MigrationOptions how, BooleanSupplier givesWay);

    void stay();

    void retire(String address);
}
