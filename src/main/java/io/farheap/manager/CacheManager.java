package io.farheap.manager;

import io.farheap.control.ControlException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The interface of a cache manager (Redy, sections 3.2 and 6): it finds servers for caches, knows which cache holds
 * regions on which server, and notifies clients when a server is about to leave. It is not on the data path: a cache
 * reads, writes and moves even if every manager is down; only new allocations wait.
 *
 * <p>A manager implements it, and {@code ManagerClient} does over gRPC. Thread-safe. Every method throws
 * {@link ControlException}; after UNAVAILABLE and DEADLINE_EXCEEDED a call may or may not have taken effect, and may be
 * repeated: each method states why that is harmless.
 */
public interface CacheManager {

    /** Raised with every change to the messages that an older peer would misread. */
    int PROTOCOL_VERSION = 8;

    /** The most characters of a server's address, type and place. */
    int MAX_TEXT_LENGTH = 256;

    /** How long room for a cache that grows, and leaves no server for that, is kept, in ms. */
    int GROWTH_MILLIS = 10_000;

    /** The most caches that {@link #list} returns at once. */
    int MAX_PAGE = 1000;

    /** The most bytes of a performance model: ZooKeeper takes 1 MiB at once, with what is written beside it. */
    int MAX_MODEL_BYTES = 900_000;

    /** The most performance models: all are in the manager's memory. */
    int MAX_MODELS = 256;

    /**
     * A client's and a server's first message.
     *
     * @param protocolVersion the caller's {@link #PROTOCOL_VERSION}
     * @return the manager's epoch: each new leader raises it
     * @throws ControlException PROTOCOL_MISMATCH
     */
    long hello(int protocolVersion);

    /**
     * Finds servers for a cache, all or nothing, and records that it has them. Repeated with the same
     * {@linkplain CacheRequest#cacheId id}, it returns the cache's allocation.
     *
     * @throws ControlException OUT_OF_MEMORY, with the amount that is available, or that it exceeds the tenant's
     *     {@link Quota}; INVALID_ARGUMENT; BUSY while servers are being started for it, expired caches give up their
     *     room, or caches on servers that leave look for room: a repeated call waits further, until it has servers or
     *     throws OUT_OF_MEMORY
     */
    Allocation allocate(CacheRequest request);

    /**
     * Finds servers for a cache that is to have another capacity or another objective (Redy, sections 3.2 and 6.2). In
     * the result, {@link Allocation#candidate} is the configuration, {@link Allocation#reserved} the room for new
     * regions and for those that move, {@link Allocation#left} the servers that the cache leaves. The cache stays where
     * its servers can serve it, except if the move to a cheaper server pays for itself. The client carries this out and
     * confirms it by {@link #moved}, which makes capacity and configuration the cache's. A reallocation that is not
     * confirmed within {@value #GROWTH_MILLIS} ms, or ten minutes if a server is left, is given up. Repeated with the
     * same values, it returns the same. A capacity that fits into the cache's regions needs no call of this method:
     * nothing is reserved then.
     *
     * @param capacity the cache's own, or another
     * @param candidates the configurations that meet its objective from now on; empty to keep the current one
     * @throws ControlException NOT_FOUND; OUT_OF_MEMORY, with the amount that is available, or that it exceeds the
     *     tenant's {@link Quota}; INVALID_ARGUMENT; BUSY while one of the cache's servers leaves, another reallocation
     *     is in progress, servers are being started for it, or others on servers that leave look for room: a repeated
     *     call waits further for those
     */
    Allocation reallocate(long cacheId, long capacity, List<AllocationCandidate> candidates);

    /** As {@link #reallocate(long, long, List)}, with the cache's current objective. */
    default Allocation reallocate(long cacheId, long capacity) {
        return reallocate(cacheId, capacity, List.of());
    }

    /**
     * Reserves room on one server for regions that the application wants there. The client moves them and confirms it
     * by {@link #moved}; a reservation that is neither confirmed nor repeated within {@value #GROWTH_MILLIS} ms is
     * given up. Repeated with another number, it replaces the cache's earlier reservation on that server.
     *
     * @param server HOST:PORT of a server that reports to the manager
     * @param regions at least 1
     * @throws ControlException NOT_FOUND if there is no such cache or server; OUT_OF_MEMORY; INVALID_ARGUMENT; BUSY
     *     while the cache leaves a server or grows
     */
    Allocation reserve(long cacheId, String server, int regions);

    /**
     * A client reports the state of its cache: after a {@link Reclaim}, to which servers it has moved; after
     * {@link #reallocate}, its new state, or that it stays as it was; or that it has become smaller. Room that was
     * reserved and is not among the shares is given up, except that of a move that is planned: only the answer to its
     * alert, or a report that no region is left on that server, settles it. Repeated with the same values, it changes
     * nothing.
     *
     * @param generation of the reclaim or of the reallocation; for a cache that has become smaller, the last one that
     *     the client knows
     * @param capacity the cache's own, the capacity of the {@link #reallocate}, or less
     * @param candidate its configuration: its own, or that of the reallocation; null for its own
     * @param shares the servers of all its regions
     * @param answers the reclaim that this answers; null if it answers none
     * @throws ControlException NOT_FOUND if there is no such cache; INVALID_ARGUMENT if the shares are not all of its
     *     regions, or are more on a server than it was given there; BUSY if the generation is not the current one: an
     *     alert with a newer one will arrive, and the client repeats the call after it; OUT_OF_MEMORY if the capacity
     *     is larger, was not reserved, and exceeds the tenant's {@link Quota}
     */
    Allocation moved(
            long cacheId,
            long generation,
            long capacity,
            @Nullable AllocationCandidate candidate,
            List<RegionShare> shares,
            @Nullable ReclaimOutcome answers);

    /** A report that answers no reclaim. */
    default Allocation moved(
            long cacheId,
            long generation,
            long capacity,
            @Nullable AllocationCandidate candidate,
            List<RegionShare> shares) {
        return moved(cacheId, generation, capacity, candidate, shares, null);
    }

    /** A report that answers no reclaim, with the cache's current configuration. */
    default Allocation moved(long cacheId, long generation, long capacity, List<RegionShare> shares) {
        return moved(cacheId, generation, capacity, null, shares, null);
    }

    /**
     * A client claims a cache that the manager does not know, such as one that was given up while its client and
     * servers were cut off. It is taken up again if a server reports that it holds it, also beyond the tenant's
     * {@link Quota}. Repeated, it returns the cache's allocation.
     *
     * @param terms the cache's id, name, capacity, place and tenant; what is left of its lifetime; one candidate, with
     *     which it runs
     * @param generation the last one that the client knows
     * @param regionBytes size of each of its regions
     * @param shares the servers of all its regions
     * @throws ControlException NOT_FOUND if the cache has ended, or no server reports that it holds it; BUSY if servers
     *     of its have not reported so many regions yet: the client repeats the call, and regions that are not reported
     *     after some 15 s are taken for lost, those that are reported not; INVALID_ARGUMENT
     */
    Allocation claim(CacheRequest terms, long generation, long regionBytes, List<RegionShare> shares);

    /**
     * Extends the lifetime of a cache. Repeated, it counts from the repetition.
     *
     * @param lifetimeMillis from now; 0 for ever
     * @return the cache with its new lifetime
     * @throws ControlException NOT_FOUND; INVALID_ARGUMENT
     */
    CacheDescription extend(long cacheId, long lifetimeMillis);

    /** Forgets a cache, whose client has given its memory back. Idempotent. */
    void deallocate(long cacheId);

    /** @throws ControlException NOT_FOUND */
    CacheDescription describe(long cacheId);

    /**
     * Caches in the order of their ids, as unsigned numbers.
     *
     * @param after the last id of the page before; 0 for the first
     * @param most 1 to {@value #MAX_PAGE}
     */
    List<CacheDescription> list(long after, int most);

    /**
     * Stores a performance model, and replaces the one of the same device, hardware, distance and load if there is one.
     * Repeated, it changes nothing.
     *
     * @param text of a complete model's file, of at most {@value #MAX_MODEL_BYTES} bytes
     * @throws ControlException INVALID_ARGUMENT with the reason; OUT_OF_MEMORY if there are {@value #MAX_MODELS} others
     */
    void putModel(String text);

    /**
     * Forgets a performance model. Idempotent.
     *
     * @param key of a {@link StoredModel}
     */
    void removeModel(String key);

    /**
     * Performance models in the order of their keys, as many as fit in one message.
     *
     * @param after the last key of the page before; empty for the first
     * @return a page; the one after the last is empty
     */
    List<StoredModel> models(String after);

    /**
     * Sets the quota of a tenant. It takes nothing away: a tenant that has more gets nothing new until it has less.
     * Repeated, it changes nothing.
     *
     * @param tenant as {@link Tenant#name(String)}
     * @param quota {@link Quota#NONE} for no limit
     * @return the tenant
     * @throws ControlException INVALID_ARGUMENT
     */
    Tenant setQuota(String tenant, Quota quota);

    /**
     * The tenants that have caches or a quota, in the order of their names.
     *
     * @param after the last name of the page before; empty for the first
     * @param most 1 to {@value #MAX_PAGE}
     */
    List<Tenant> tenants(String after, int most);

    /** The servers that report now. */
    List<ServerReport> servers();

    /** What is estimated of the lives of spot servers, for each type that has any, in the order of their names. */
    List<LifeEstimate> lives();

    /** How fast caches leave servers, for each type that reports or was observed, in the order of their names. */
    List<LeavingRate> rates();

    /**
     * Announces a client process; it receives messages about its caches until it closes the attendance. If a process is
     * silent for the manager's time limit, its caches are deallocated as soon as no server reports a lease of theirs.
     *
     * @param clientId random, of the process
     * @param listener called on a thread that it must not block
     */
    Attendance attend(long clientId, Listener listener);

    /**
     * Tells a server to leave within its notice, as SIGTERM does: it gets no more caches from now on, its caches move,
     * and its process ends. The server receives this with the answer to its next report, even if another manager leads
     * by then. Idempotent.
     *
     * @param address HOST:PORT of one that reports
     * @throws ControlException NOT_FOUND
     */
    void drain(String address);

    /**
     * Gives up a server that is silent and will not come back: what it holds of ended caches, and of caches whose
     * clients are gone, counts as free, and it is forgotten as soon as no cache has regions there. Idempotent. A server
     * that reports again is a server as before.
     *
     * @param address HOST:PORT
     * @throws ControlException NOT_FOUND if no server there is known; INVALID_ARGUMENT if it reports; BUSY if it may
     *     not have found this manager yet, or this manager hears no other server or has stood still, so that it may be
     *     cut off itself
     */
    void forget(String address);

    /**
     * Receives a server's report. A server sends one every second; a server that is silent for three seconds gets no
     * more caches. One that wants regions back gets nothing new, and caches move as many regions off it as its free
     * ones do not suffice for.
     *
     * @return the manager's orders
     */
    ReportReply report(ServerReport report);

    /** A client process's connection to the manager. */
    interface Attendance extends AutoCloseable {

        /**
         * Confirms that the process is alive.
         *
         * @param cacheIds all of its caches
         */
        void renew(Set<Long> cacheIds);

        @Override
        void close();
    }

    /** Receives the manager's messages to a client process. */
    interface Listener {

        /** One of its caches is to leave a server; may be called more than once. */
        void reclaim(Reclaim alert);

        /**
         * The lifetime of one of its caches is nearly over or has ended. The cache continues until other caches need
         * its room.
         *
         * @param leftMillis 0 or more
         */
        void expiring(long cacheId, long leftMillis);

        /**
         * A server of one of its caches has not reported for a while, was restarted, or reports none of its regions as
         * the cache's other servers do. Advice: the client's lease decides. Called once for each loss and connection.
         *
         * @param server HOST:PORT
         */
        void lost(long cacheId, String server);

        /**
         * The lifetime of one of its caches had ended, and other caches needed its room: its servers take its regions
         * back. Sent over each connection until they have.
         *
         * @param why a sentence
         */
        void ended(long cacheId, String why);

        /**
         * The manager does not know one of its caches: a client that has it claims it. May be called more than once.
         */
        default void unknown(long cacheId) {}

        /**
         * Some regions of one of its caches cannot leave a server before that ends, unless something changes. Called
         * once for each server and connection, and again if twice as many cannot.
         */
        default void late(long cacheId, CacheDescription.LateMove move) {}

        /**
         * A server wants regions back for its machine, and some of one of its caches find no room elsewhere: they stay,
         * and nothing is lost. Called once for each server and connection while that lasts, and again if twice as many
         * find none.
         *
         * @param server HOST:PORT
         * @param regions of the cache, at least 1; of all caches together as many as find no room
         */
        default void wanted(long cacheId, String server, int regions) {}

        /** The connection has ended: the process must attend again. Not called after {@link Attendance#close}. */
        void ended(ControlException why);
    }
}
