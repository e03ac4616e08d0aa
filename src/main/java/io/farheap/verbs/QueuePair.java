package io.farheap.verbs;

import io.farheap.lifetime.CloseStack;
import io.farheap.posix.Errno;
import io.farheap.verbs.binding.ibv_ah_attr;
import io.farheap.verbs.binding.ibv_global_route;
import io.farheap.verbs.binding.ibv_qp;
import io.farheap.verbs.binding.ibv_qp_attr;
import io.farheap.verbs.binding.ibv_qp_init_attr;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.bytedeco.javacpp.Loader;
import org.jspecify.annotations.Nullable;

/**
 * One end of a reliable connection. One thread at a time posts; only the owner calls {@link #connect}, {@link #fail},
 * {@link #failed} and {@link #close}.
 */
public final class QueuePair implements AutoCloseable {

    private static final byte RNR_RETRY_FOREVER = 7;
    private static final byte RNR_TIMER_MILLISECOND = 14;
    /** The most READs and atomics in flight, each way, if both devices support as many. */
    private static final int READS_IN_FLIGHT = 16;

    private static final byte HOP_LIMIT = 64;

    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final ibv_qp handle;
    private final DataPathCalls calls;
    private final long criticalBytes;
    private long ordinaryPosts;
    /** 0 once closed: checked before native code uses it. */
    private long address;

    private final int inlineBytes;
    private final int depth;
    private final PortInfo port;
    /** All entries by which the peer may address this queue pair, the best first. */
    private final List<GidEntry> gids;
    /** Whether the peer may have received them. */
    private boolean offered;
    /** By which the queue pair is connected; null before it is. */
    private @Nullable GidPair pair;

    private final int packetSequenceNumber = ThreadLocalRandom.current().nextInt(1 << 24);
    private final Arena arena;
    private final MemorySegment badRequest;
    private final long badRequestAddress;
    private boolean closed;
    /** The error with which the device refused for good to destroy it; 0 if it has not. */
    private int failure;

    /** Throws nothing, since no caller would own the handle then. */
    private QueuePair(
            ProtectionDomain domain,
            CompletionQueue completions,
            ibv_qp handle,
            int depth,
            int inlineBytes,
            PortInfo port,
            List<GidEntry> gids,
            Arena arena,
            MemorySegment badRequest) {
        this.domain = domain;
        this.completions = completions;
        this.handle = handle;
        this.calls = domain.context().calls();
        this.criticalBytes = calls.criticalBytes();
        this.address = handle.address();
        this.depth = depth;
        this.inlineBytes = inlineBytes;
        this.port = port;
        this.gids = gids;
        this.arena = arena;
        this.badRequest = badRequest;
        this.badRequestAddress = badRequest.address();
    }

    static QueuePair create(ProtectionDomain domain, CompletionQueue completions, int depth, int inlineBytes) {
        Context context = domain.context();
        PortInfo port = context.requireActivePort();
        List<GidEntry> gids = context.candidates(port);
        Arena own = Arena.ofShared();
        try (CloseStack stack = new CloseStack();
                Arena arena = Arena.ofConfined()) {
            stack.add(own);
            MemorySegment badRequest = own.allocate(8, 8);
            ibv_qp_init_attr attr =
                    new ibv_qp_init_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_qp_init_attr.class)));
            attr.send_cq(completions.handle())
                    .recv_cq(completions.handle())
                    .qp_type(ibverbs.IBV_QPT_RC)
                    .sq_sig_all(0);
            ibv_qp handle = create(domain, attr, depth, inlineBytes);
            stack.add(() -> ibverbs.farheap_destroy_qp(handle));
            QueuePair queuePair = new QueuePair(
                    domain, completions, handle, depth, attr.cap().max_inline_data(), port, gids, own, badRequest);
            queuePair.initialize();
            stack.keep();
            return queuePair;
        }
    }

    /**
     * Creates the queue pair. Inline payloads only save time, so if the device refuses a size, half of it is tried,
     * down to 0.
     */
    private static ibv_qp create(ProtectionDomain domain, ibv_qp_init_attr attr, int depth, int inlineBytes) {
        attr.cap()
                .max_send_wr(depth)
                .max_recv_wr(1)
                .max_send_sge(1)
                .max_recv_sge(1)
                .max_inline_data(inlineBytes);
        ibv_qp handle = ibverbs.farheap_create_qp(domain.handle(), attr);
        if (handle != null) {
            return handle;
        }
        int errno = NativePointers.errno();
        if (inlineBytes > 0) {
            return create(domain, attr, depth, inlineBytes / 2);
        }
        throw new VerbsException(
                "cannot create a queue pair of depth " + depth + " on "
                        + domain.context().device().name(),
                errno);
    }

    /**
     * The endpoint that the peer needs to {@link #connect} to this queue pair. Before this queue pair is connected, it
     * has the GIDs among which the peer may choose; afterwards it has the choice, too.
     */
    public Endpoint endpoint() {
        offered = true;
        GidPair chosen = pair;
        GidEntry own = chosen == null ? gids.getFirst() : chosen.own();
        List<GidEntry> peer = chosen == null || !port.ethernet() ? List.of() : List.of(chosen.peer());
        SoftverbsPlace place = SoftverbsPlace.own(domain.context().library());
        return new Endpoint(
                handle().qp_num(),
                packetSequenceNumber,
                port.lid(),
                own.bytes(),
                port.mtu(),
                initiatorDepth(),
                responderResources(),
                place.user(),
                place.host(),
                GidEntry.encode(GidEntry.offered(gids)),
                GidEntry.encode(peer));
    }

    private int initiatorDepth() {
        return Math.min(domain.context().limits().maxReadAtomicInitiator(), READS_IN_FLIGHT);
    }

    /** A power of two, since drivers round up to one, and the result must not exceed what the other side serves. */
    private static byte depth(int own, int peers) {
        return (byte) Integer.highestOneBit(Math.min(own, peers));
    }

    private int responderResources() {
        return Math.min(domain.context().limits().maxReadAtomicTarget(), READS_IN_FLIGHT);
    }

    public int number() {
        return handle().qp_num();
    }

    /** The largest payload that may be posted inline, in bytes. */
    public int inlineBytes() {
        return inlineBytes;
    }

    /** How many work requests may be posted and not completed. */
    public int depth() {
        return depth;
    }

    /**
     * Connects to a peer: moves through ready-to-receive to ready-to-send. The peer may do so earlier or later. If the
     * peer's endpoint has no choice of a pair of GIDs yet, this end makes it.
     *
     * @throws VerbsException if the device refuses, or the peer cannot be reached by any pair of GIDs
     */
    public void connect(Endpoint peer) {
        SoftverbsPlace.own(domain.context().library()).checkReaches(peer.place(), peer.toString());
        readyToReceive(peer);
        readyToSend(peer);
    }

    void readyToReceive(Endpoint peer) {
        GidPair by = port.ethernet() ? GidPair.onEthernet(gids, offered, peer) : GidPair.onInfiniband(gids, peer);
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = attributes(arena);
            attr.qp_state(ibverbs.IBV_QPS_RTR)
                    .path_mtu(Math.min(port.mtu(), peer.pathMtu()))
                    .dest_qp_num(peer.queuePairNumber())
                    .rq_psn(peer.packetSequenceNumber())
                    .max_dest_rd_atomic(depth(responderResources(), peer.initiatorDepth()))
                    .min_rnr_timer(RNR_TIMER_MILLISECOND);
            address(attr.ah_attr(), by, peer);
            modify(
                    attr,
                    ibverbs.IBV_QP_STATE
                            | ibverbs.IBV_QP_AV
                            | ibverbs.IBV_QP_PATH_MTU
                            | ibverbs.IBV_QP_DEST_QPN
                            | ibverbs.IBV_QP_RQ_PSN
                            | ibverbs.IBV_QP_MAX_DEST_RD_ATOMIC
                            | ibverbs.IBV_QP_MIN_RNR_TIMER,
                    "connect to " + peer + (port.needsGid() ? " from " + by.own() : ""));
            pair = by;
        }
    }

    void readyToSend(Endpoint peer) {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = attributes(arena);
            attr.qp_state(ibverbs.IBV_QPS_RTS)
                    .sq_psn(packetSequenceNumber)
                    .timeout((byte) options().ackTimeout())
                    .retry_cnt((byte) options().retries())
                    .rnr_retry(RNR_RETRY_FOREVER)
                    .max_rd_atomic(depth(initiatorDepth(), peer.responderResources()));
            modify(
                    attr,
                    ibverbs.IBV_QP_STATE
                            | ibverbs.IBV_QP_TIMEOUT
                            | ibverbs.IBV_QP_RETRY_CNT
                            | ibverbs.IBV_QP_RNR_RETRY
                            | ibverbs.IBV_QP_SQ_PSN
                            | ibverbs.IBV_QP_MAX_QP_RD_ATOMIC,
                    "get ready to send to " + peer);
        }
    }

    /** Moves to the error state: what is posted completes with WR_FLUSH_ERR. */
    public void fail() {
        try (Arena arena = Arena.ofConfined()) {
            modify(attributes(arena).qp_state(ibverbs.IBV_QPS_ERR), ibverbs.IBV_QP_STATE, "move to the error state");
        }
    }

    /** Whether the queue pair is in the error state, as the device reports it. */
    public boolean failed() {
        return state() == ibverbs.IBV_QPS_ERR;
    }

    /** {@code enum ibv_qp_state}, as the device reports it. */
    int state() {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = attributes(arena);
            ibv_qp_init_attr init =
                    new ibv_qp_init_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_qp_init_attr.class)));
            int error = ibverbs.farheap_query_qp(handle(), attr, ibverbs.IBV_QP_STATE, init);
            if (error != 0) {
                throw new VerbsException("cannot query queue pair " + number(), error);
            }
            return attr.qp_state();
        }
    }

    /**
     * Posts a list of prepared work requests with one call.
     *
     * @param requests the object that has the first request
     * @param first its index; it is linked to the others of the list
     * @param payloadBytes sum of the list's payloads: a device that executes in the post copies them before the call
     *     returns, and a call that delays safepoints must be short
     * @return 0, or errno if the device refused: the requests before the refused one are posted
     */
    public int post(SendRequests requests, int first, long payloadBytes) {
        return payloadBytes <= criticalBytes
                ? calls.postSendCritical(open(), requests.address(first), badRequestAddress)
                : postUnbounded(requests, first);
    }

    /**
     * Creates an object for single operations; the parameters are {@link OneOperation}'s. Close it before the queue
     * pair.
     */
    public OneOperation oneOperation(long id, int inlineBytes, int polls) {
        return new OneOperation(this, completions, criticalBytes, id, Math.min(inlineBytes, this.inlineBytes), polls);
    }

    /**
     * The index of the first request that the device refused, after a {@link #post} that returned an error.
     *
     * @param first the index that was posted, returned if the provider names no request: one that posts by a system
     *     call which fails (rxe, whose device is gone) does not
     */
    public int refused(SendRequests requests, int first) {
        long named = badRequest.get(ValueLayout.JAVA_LONG, 0);
        badRequest.set(ValueLayout.JAVA_LONG, 0, 0);
        return named == 0 ? first : requests.indexOf(named);
    }

    /**
     * As {@link #post}, for a request with which the device may make a system call or wait, such as the first one to a
     * remote region.
     */
    public int postUnbounded(SendRequests requests, int first) {
        ordinaryPosts++;
        return calls.postSend(open(), requests.address(first), badRequestAddress);
    }

    /** How many posts were ordinary calls, which do not delay safepoints; the others were critical calls. */
    public long ordinaryPosts() {
        return ordinaryPosts;
    }

    /**
     * Posts a receive without memory, for one {@link SendRequests#WRITE_WITH_IMMEDIATE} of the peer. There is room for
     * one.
     *
     * @param id the id of its completion
     */
    public void postReceive(long id) {
        int error = ibverbs.farheap_post_empty_recv(handle(), id);
        if (error != 0) {
            throw new VerbsException("cannot post a receive", error);
        }
    }

    /**
     * Destroys the queue pair. Idempotent once it is destroyed.
     *
     * @throws VerbsException with EBUSY if an operation of the peer is under way and does not progress, such as one of
     *     a stopped process: no new one can begin, and nothing can be posted; close again later. With another error, at
     *     each call, if the device does not destroy it: that is not tried again, as its context may be closed then
     */
    @Override
    public synchronized void close() {
        if (failure != 0) {
            // Success would stand for a fence.
            throw new VerbsException("cannot destroy a queue pair", failure);
        }
        if (!closed) {
            int error = destroy();
            if (error != Errno.EBUSY) {
                closed = true;
                failure = error;
                completions.children().remove();
                domain.children().remove();
            }
            if (error != 0) {
                throw new VerbsException("cannot destroy a queue pair", error);
            }
        }
    }

    ibv_qp handle() {
        open();
        return handle;
    }

    private long open() {
        if (address == 0) {
            throw new IllegalStateException("the queue pair is closed");
        }
        return address;
    }

    private int destroy() {
        address = 0;
        int error = ibverbs.farheap_destroy_qp(handle);
        if (error != Errno.EBUSY) {
            arena.close();
        }
        return error;
    }

    /** Moves from RESET to INIT. */
    void initialize() {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = attributes(arena);
            attr.qp_state(ibverbs.IBV_QPS_INIT)
                    .pkey_index((short) domain.context().partitionIndex(port))
                    .port_num((byte) port.number())
                    .qp_access_flags(domain.context().limits().remoteAccess());
            modify(
                    attr,
                    ibverbs.IBV_QP_STATE
                            | ibverbs.IBV_QP_PKEY_INDEX
                            | ibverbs.IBV_QP_PORT
                            | ibverbs.IBV_QP_ACCESS_FLAGS,
                    "initialise");
        }
    }

    private PortOptions options() {
        return domain.context().options();
    }

    private void address(ibv_ah_attr address, GidPair by, Endpoint peer) {
        address.dlid((short) peer.lid()).sl((byte) options().serviceLevel()).port_num((byte) port.number());
        if (port.needsGid()) {
            ibv_global_route route = address.grh();
            MemorySegment destination = MemorySegment.ofAddress(route.address()).reinterpret(Endpoint.GID_BYTES);
            MemorySegment.copy(MemorySegment.ofArray(by.peer().bytes()), 0, destination, 0, Endpoint.GID_BYTES);
            // The table may have changed since the entries were offered.
            int index = domain.context().gidIndex(port, by.own());
            route.sgid_index((byte) index).hop_limit(HOP_LIMIT).traffic_class((byte)
                    options().trafficClass());
            address.is_global((byte) 1);
        }
    }

    private void modify(ibv_qp_attr attr, int mask, String what) {
        int error = ibverbs.farheap_modify_qp(handle(), attr, mask);
        if (error != 0) {
            throw new VerbsException(
                    "queue pair " + number() + " of "
                            + domain.context().device().name() + " cannot " + what,
                    error);
        }
    }

    private static ibv_qp_attr attributes(Arena arena) {
        return new ibv_qp_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_qp_attr.class)));
    }
}
