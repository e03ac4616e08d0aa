package io.farheap.manager;

import io.farheap.control.ControlException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a cache manager does (Redy, sections 3.2 and 6): it finds servers for caches, knows who holds what, and tells
 * clients when a server is about to leave. It is not on the data path: a cache reads, writes and moves with every
 * manager dead; only what is new waits.
 *
 * <p>A manager implements it, and {@code ManagerClient} does over gRPC. Thread-safe. Every method throws
 * {@link ControlException}; after UNAVAILABLE and DEADLINE_EXCEEDED a call may or may not have taken effect, and may be
 * repeated: each says why that does no harm.
 */
public interface CacheManager {

    /** Raised with every change to the messages that an older peer would misread. */
    int PROTOCOL_VERSION = 7;

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
     * Finds servers for a cache, all or nothing, and remembers that it has them. Repeated with the same
     * {@linkplain CacheRequest#cacheId id}, it returns what the cache has.
     *
     * @throws ControlException OUT_OF_MEMORY, saying what could be had, or that it is more than the tenant's
     *     {@link Quota}; INVALID_ARGUMENT; BUSY while servers are being started for it, or caches whose time is over
     *     give up their room: repeated, it waits on for them, until it has them or OUT_OF_MEMORY
     */
    Allocation allocate(CacheRequest request);

    /**
     * Finds what a cache needs that is to have other bytes or another objective (Redy, sections 3.2 and 6.2):
     * {@link Allocation#candidate} with which configuration, {@link Allocation#reserved} where there is room for what
     * is new and for what moves, {@link Allocation#left} off which servers. The cache stays where its servers can serve
     * it, but for those from which a move to a cheaper one pays for itself. The client does all that and says so by
     * {@link #moved}, which makes capacity and configuration the cache's. What nobody has said so of within
     * {@value #GROWTH_MILLIS} ms, or ten minutes where a server is left, is given up. Repeated with the same values, it
     * returns the same. Another capacity alone that the regions have room for needs no call of this: nothing is
     * reserved then.
     *
     * @param capacity the cache's own, or another
     * @param candidates the configurations that meet its objective from now on; empty where it stays as it is
     * @throws ControlException NOT_FOUND; OUT_OF_MEMORY, saying what could be had, or that it is more than the tenant's
     *     {@link Quota}; INVALID_ARGUMENT; BUSY while a server leaves that the cache is on, it becomes another already,
     *     or servers are being started for it: repeated, it waits on for those
     */
    Allocation reallocate(long cacheId, long capacity, List<AllocationCandidate> candidates);

    /** As {@link #reallocate(long, long, List)}, with the objective that the cache has. */
    default Allocation reallocate(long cacheId, long capacity) {
        return reallocate(cacheId, capacity, List.of());
    }

    /**
     * Reserves room on one server for regions that the application wants there. The client moves them and says so by
     * {@link #moved}; what nobody has said so of within {@value #GROWTH_MILLIS} ms is given up.
     *
     * @param server HOST:PORT of one that reports
     * @param regions at least 1
     * @throws ControlException NOT_FOUND where there is no such cache or server; OUT_OF_MEMORY; INVALID_ARGUMENT; BUSY
     *     while the cache leaves a server or grows
     */
    Allocation reserve(long cacheId, String server, int regions);

    /**
     * A client tells what its cache is now: after a {@link Reclaim}, where it has moved; after {@link #reallocate},
     * what it has become, or that it stays what it was; or that it has become smaller. What was reserved and is not
     * among the shares is given up. Repeated with the same values, it changes nothing.
     *
     * @param generation of the reclaim, of the reallocation, or, for a cache that has become smaller, the last that the
     *     client knows
     * @param capacity the cache's own, what was asked of {@link #reallocate}, or less
     * @param candidate its configuration: its own, or that of the reallocation; null for its own
     * @param shares where all of its regions are
     * @throws ControlException NOT_FOUND where there is no such cache; INVALID_ARGUMENT where the shares are not all of
     *     its regions, or on servers that it was not told of; BUSY where the generation is over: an alert with another
     *     is on its way, and the client says this again after it; OUT_OF_MEMORY where the capacity is larger, was not
     *     reserved, and is more than the tenant's {@link Quota}
     */
    Allocation moved(
            long cacheId,
            long generation,
            long capacity,
            @Nullable AllocationCandidate candidate,
            List<RegionShare> shares);

    /** As {@link #moved(long, long, long, Candidate, List)}, with the configuration that the cache has. */
    default Allocation moved(long cacheId, long generation, long capacity, List<RegionShare> shares) {
        return moved(cacheId, generation, capacity, null, shares);
    }

    /**
     * A cache is needed for longer than it was said. Repeated, it counts from then.
     *
     * @param lifetimeMillis from now; 0 for ever
     * @return how long it has
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
     * Keeps a performance model, in place of the one of the same device, hardware, distance and load where there is
     * one. Repeated, it changes nothing.
     *
     * @param text of a complete model's file, of at most {@value #MAX_MODEL_BYTES} bytes
     * @throws ControlException INVALID_ARGUMENT, saying what is wrong with it; OUT_OF_MEMORY where there are
     *     {@value #MAX_MODELS} others
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
     * Says what a tenant may have from now on. It takes nothing away: where the tenant has more, it gets nothing new
     * until it has less. Repeated, it changes nothing.
     *
     * @param tenant as {@link Tenant#name(String)}
     * @param quota {@link Quota#NONE} for no limit
     * @return what it has
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

    /**
     * A client process is there, and hears of what concerns its caches until it closes what is returned. A process that
     * is silent for the manager's time limit has lost its caches, once no server says that it holds a lease.
     *
     * @param clientId random, of the process
     * @param listener told on a thread that it must not hold
     */
    Attendance attend(long clientId, Listener listener);

    /**
     * Tells a server to leave within its notice, as SIGTERM does: it gets no more caches from now on, its caches move,
     * and its process ends. It hears so with the answer to its next report, also from another manager that leads by
     * then. Idempotent.
     *
     * @param address HOST:PORT of one that reports
     * @throws ControlException NOT_FOUND
     */
    void drain(String address);

    /**
     * A server says what it has. Every second; a server that is silent for three gets no more caches.
     *
     * @return what it is to do
     */
    ReportReply report(ServerReport report);

    /** A client process's line to the manager. */
    interface Attendance extends AutoCloseable {

        /**
         * The process is there.
         *
         * @param cacheIds all of its caches
         */
        void renew(Set<Long> cacheIds);

        @Override
        void close();
    }

    /** What a client process hears. */
    interface Listener {

        /** Of one of its caches; may come more than once. */
        void reclaim(Reclaim alert);

        /**
         * The time of one of its caches is nearly over, or is over. It goes on until others need its room.
         *
         * @param leftMillis 0 or more
         */
        void expiring(long cacheId, long leftMillis);

        /**
         * A server of one of its caches has not reported for a while, or was started anew. Advice: the client's lease
         * decides. Said once for each loss and line.
         *
         * @param server HOST:PORT
         */
        void lost(long cacheId, String server);

        /**
         * The time of one of its caches was over, and others needed its room: its servers take back what it has. Said
         * over each line until they have.
         *
         * @param why a sentence
         */
        void ended(long cacheId, String why);

        /** Nothing will be heard any more: attend anew. Not where {@link Attendance#close} was called. */
        void ended(ControlException why);
    }
}
