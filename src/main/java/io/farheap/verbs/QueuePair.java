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
import java.util.concurrent.ThreadLocalRandom;
import org.bytedeco.javacpp.Loader;

/**
 * One end of a reliable connection. One thread at a time posts; {@link #connect}, {@link #fail}, {@link #failed} and
 * {@link #close} belong to the owner.
 */
public final class QueuePair implements AutoCloseable {

    /**
     * 4.096 us * 2^14 = 67 ms without an acknowledgement, then a retry; six of them end in RETRY_EXC_ERR after half a
     * second. Not seven: the kernel's rxe takes that for "for ever", so that requests to a dead peer would never
     * complete.
     */
    private static final byte ACK_TIMEOUT = 14;

    private static final byte RETRIES = 6;
    private static final byte RNR_RETRY_FOREVER = 7;
    private static final byte RNR_TIMER_MILLISECOND = 14;
    /** READs and atomics in flight at most, each way, where both devices can. */
    private static final int READS_IN_FLIGHT = 16;

    private static final byte HOP_LIMIT = 64;

    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final ibv_qp handle;
    private final DataPathCalls calls;
    private final long criticalBytes;
    private long ordinaryPosts;
    /** 0 once closed: checked before native code sees it. */
    private long address;

    private final int inlineBytes;
    private final int depth;
    private final PortInfo port;
    private final Gid gid;
    private final int packetSequenceNumber = ThreadLocalRandom.current().nextInt(1 << 24);
    private final Arena arena;
    private final MemorySegment badRequest;
    private final long badRequestAddress;
    private boolean closed;

    /** Throws nothing: the queue pair that it is given would be nobody's. */
    private QueuePair(
            ProtectionDomain domain,
            CompletionQueue completions,
            ibv_qp handle,
            int depth,
            int inlineBytes,
            PortInfo port,
            Gid gid,
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
        this.gid = gid;
        this.arena = arena;
        this.badRequest = badRequest;
        this.badRequestAddress = badRequest.address();
    }

    static QueuePair create(ProtectionDomain domain, CompletionQueue completions, int depth, int inlineBytes) {
        Context context = domain.context();
        PortInfo port = context.requireActivePort();
        Gid gid = Gid.choose(context, port);
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
                    domain, completions, handle, depth, attr.cap().max_inline_data(), port, gid, own, badRequest);
            queuePair.initialize();
            stack.keep();
            return queuePair;
        }
    }

    /** Inline payloads only save time: a device that does not take that size is asked for half of it, down to none. */
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

    /** What the peer needs to {@link #connect} to this queue pair. */
    public Endpoint endpoint() {
        return new Endpoint(
                handle().qp_num(),
                packetSequenceNumber,
                port.lid(),
                gid.bytes(),
                port.mtu(),
                initiatorDepth(),
                responderResources(),
                SoftverbsPlace.own(domain.context().library()));
    }

    private int initiatorDepth() {
        return Math.min(domain.context().limits().maxReadAtomicInitiator(), READS_IN_FLIGHT);
    }

    /** Drivers round up to a power of two, beyond what the other side serves: so it is one. */
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

    /** Work requests that may be posted and not completed. */
    public int depth() {
        return depth;
    }

    /**
     * Connects to a peer: through ready-to-receive to ready-to-send. The peer may do so earlier or later.
     *
     * @throws VerbsException where the device refuses, such as for a peer that cannot be reached
     */
    public void connect(Endpoint peer) {
        SoftverbsPlace.own(domain.context().library()).checkReaches(peer.place(), peer.toString());
        readyToReceive(peer);
        readyToSend(peer);
    }

    void readyToReceive(Endpoint peer) {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = attributes(arena);
            attr.qp_state(ibverbs.IBV_QPS_RTR)
                    .path_mtu(Math.min(port.mtu(), peer.pathMtu()))
                    .dest_qp_num(peer.queuePairNumber())
                    .rq_psn(peer.packetSequenceNumber())
                    .max_dest_rd_atomic(depth(responderResources(), peer.initiatorDepth()))
                    .min_rnr_timer(RNR_TIMER_MILLISECOND);
            address(attr.ah_attr(), peer);
            modify(
                    attr,
                    ibverbs.IBV_QP_STATE
                            | ibverbs.IBV_QP_AV
                            | ibverbs.IBV_QP_PATH_MTU
                            | ibverbs.IBV_QP_DEST_QPN
                            | ibverbs.IBV_QP_RQ_PSN
                            | ibverbs.IBV_QP_MAX_DEST_RD_ATOMIC
                            | ibverbs.IBV_QP_MIN_RNR_TIMER,
                    "connect to " + peer);
        }
    }

    void readyToSend(Endpoint peer) {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = attributes(arena);
            attr.qp_state(ibverbs.IBV_QPS_RTS)
                    .sq_psn(packetSequenceNumber)
                    .timeout(ACK_TIMEOUT)
                    .retry_cnt(RETRIES)
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

    /** Whether the device has it in the error state. */
    public boolean failed() {
        return state() == ibverbs.IBV_QPS_ERR;
    }

    /** {@code enum ibv_qp_state}, as the device has it. */
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
     * @param requests where the first request is
     * @param first its index; it is linked to what else is posted
     * @param payloadBytes of all the list: a device that executes in the post copies so much before the call returns,
     *     and a call that safepoints wait for must not be long
     * @return 0, or errno where the device refused: the requests before the refused one are posted
     */
    public int post(SendRequests requests, int first, long payloadBytes) {
        return payloadBytes <= criticalBytes
                ? calls.postSendCritical(open(), requests.address(first), badRequestAddress)
                : postUnbounded(requests, first);
    }

    /** Operations one at a time; parameters are {@link OneOperation}'s. Close it before the queue pair. */
    public OneOperation oneOperation(long id, int inlineBytes, int polls) {
        return new OneOperation(this, completions, criticalBytes, id, Math.min(inlineBytes, this.inlineBytes), polls);
    }

    /**
     * The first request that the device did not take, after a {@link #post} that returned an error.
     *
     * @param first as it was posted: a provider that rings the kernel and is refused (rxe, whose device is gone) names
     *     no request
     */
    public int refused(SendRequests requests, int first) {
        long named = badRequest.get(ValueLayout.JAVA_LONG, 0);
        badRequest.set(ValueLayout.JAVA_LONG, 0, 0);
        return named == 0 ? first : requests.indexOf(named);
    }

    /**
     * As {@link #post}, for a request that may make the device call the system or wait, such as the first to a remote
     * region.
     */
    public int postUnbounded(SendRequests requests, int first) {
        ordinaryPosts++;
        return calls.postSend(open(), requests.address(first), badRequestAddress);
    }

    /** How many posts were ordinary calls, which safepoints do not wait for; the others were critical ones. */
    public long ordinaryPosts() {
        return ordinaryPosts;
    }

    /**
     * Posts a receive without memory, for one {@link SendRequests#WRITE_WITH_IMMEDIATE} of the peer's. There is room
     * for one.
     *
     * @param id that its completion carries
     */
    public void postReceive(long id) {
        int error = ibverbs.farheap_post_empty_recv(handle(), id);
        if (error != 0) {
            throw new VerbsException("cannot post a receive", error);
        }
    }

    /**
     * Idempotent.
     *
     * @throws VerbsException with EBUSY where an operation of the peer's is under way and does not get on, such as that
     *     of a process that is stopped: no new one can begin, and nothing can be posted; close again later
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            int error = destroy();
            if (error != Errno.EBUSY) {
                closed = true;
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

    /** RESET to INIT. */
    void initialize() {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = attributes(arena);
            attr.qp_state(ibverbs.IBV_QPS_INIT)
                    .pkey_index((short) 0)
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

    private void address(ibv_ah_attr address, Endpoint peer) {
        gid.checkReaches(peer, port);
        address.dlid((short) peer.lid()).port_num((byte) port.number());
        if (port.needsGid()) {
            ibv_global_route route = address.grh();
            MemorySegment destination = MemorySegment.ofAddress(route.address()).reinterpret(Endpoint.GID_BYTES);
            MemorySegment.copy(MemorySegment.ofArray(peer.gid()), 0, destination, 0, Endpoint.GID_BYTES);
            route.sgid_index((byte) gid.index()).hop_limit(HOP_LIMIT);
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
