package io.farheap.kv;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.session.EngineSession;
import io.farheap.kv.session.MapCountTotals;
import java.util.List;

/**
 * One registration of a process with a map's servers, as the map's engine has it: its leases, and all that it knows of
 * the map under them. Any thread.
 */
interface EngineConnection extends AutoCloseable {

    /** The map's name. */
    String name();

    /** The names of the policy's experts, in the order of their bits. */
    List<String> experts();

    /** It is to take the place of a connection that is still used. Before {@link #start}. */
    void succeeds();

    /** Begins to use it. */
    void start();

    /** Nothing that requests of the connection before have posted is executed any more. */
    void isAlone();

    /**
     * Opens a session.
     *
     * @param requests in flight at most, a power of two
     * @param tally adds up what the session counts
     * @throws MapException if a server does not answer, or refuses
     */
    EngineSession session(int requests, MapCountTotals tally);

    /** @throws MapException if a server does not answer */
    MapStats stats();

    /** Addresses of the map's servers; those that it was created on come first. */
    List<String> servers();

    /** Whether the map is to be opened again: the lease on a server is lost, or one that was lost answers. */
    boolean hasLostLease();

    /** The servers to name for opening the map again; those whose leases are lost first, as they may not answer. */
    List<String> addresses();

    /** Whether the other one is of the same map. */
    boolean isOfMapOf(EngineConnection other);

    /**
     * Ends the leases, as another connection has taken the place of this one. Then requests in flight end as lost, and
     * the memory is closed when no session uses it any more.
     */
    void end();

    /** Whether its leases have ended, and no session uses it. */
    boolean isUnused();

    /** What is closed to end the map for all processes, in this order. */
    List<AutoCloseable> drops();

    @Override
    void close();
}
