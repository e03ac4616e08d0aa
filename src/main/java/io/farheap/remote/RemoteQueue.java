package io.farheap.remote;

import io.farheap.connection.Connection;
import io.farheap.connection.ConnectionNumbers;
import io.farheap.connection.OperationRing;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.remote.device.OpenDevice;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.remote.queue.QueueConnections;
import io.farheap.remote.queue.QueuePoster;
import io.farheap.remote.server.LeasedServer;
import io.farheap.remote.server.ServerConnection;
import io.farheap.remote.server.ServerLinks;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.OneOperation;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;

/**
 * One-sided operations on the regions of many servers, posted and polled by one thread at a time, the owner. Each
 * operation carries a tag of 64 bits that a poll returns unchanged when the operation has ended;
 * {@link io.farheap.remote} says what that promises. Nothing here allocates except {@link #posted}. Operations never
 * throw for errors of servers or for bad addresses: posting returns a {@link PostResult}, and the poll an
 * {@link Outcome}.
 *
 * <p>An error at one server fails the operations in flight to it, and to no other server; until {@link #reconnect},
 * operations to it are {@code LOST}.
 *
 * <p><b>Threads.</b> The owner posts and polls inside the queue's gate, which each call enters by itself. If an address
 * must not change between its lookup and the post, the owner holds the gate around both ({@link #enter},
 * {@link #exit}). Any other thread may {@link #claim} the gate, which keeps the owner out, and then wait until the
 * posted operations have ended ({@link #drain}). It stashes other completions that it takes meanwhile, and the owner's
 * next poll returns these first, in order. All fields but those marked are written only inside the gate or under a
 * claim, and the gate orders the two.
 */
public final class RemoteQueue extends OwnedQueue {

    static final int COMPLETION_BATCH = 32;
    /**
     * Entries of the completion queue beyond the operations: for each connection a flush and an operation of
     * {@link #execute}.
     */
    static final int RESERVED_ENTRIES = 256;

    private static final long DRAIN_NANOS = 5_000_000_000L;

    private final CompletionQueue completionQueue;
    private final QueueOptions options;
    private final QueueLinkChanges<ServerConnection> links;
    private final ConnectionNumbers numbers = new ConnectionNumbers();

    private final int maxBytes;
    private final boolean atomics;

    private final QueueConnections connections = new QueueConnections();
    private final QueueCompletions ended;
    private final QueuePoster poster;
    private boolean listing;

    private long reads;
    private long writes;
    private long swaps;
    private long adds;
    private long bytesRead;
    private long bytesWritten;
    private long doorbells;

    private final Runnable waker = this::wake;

    /** Takes ownership of the channel and the completion queue. */
    RemoteQueue(
            OpenDevice device,
            Consumer<OwnedQueue> onClose,
            CompletionChannel channel,
            CompletionQueue completionQueue,
            QueueOptions options,
            ExecutorService calls) {
        super(device, onClose, channel);
        this.completionQueue = completionQueue;
        this.options = options;
        this.links = new QueueLinkChanges<>(new ConnectionLinks(), gate, device.events(), channel, calls);
        int operations = options.operations();
        this.ended =
                new QueueCompletions(completionQueue, operations, operations + RESERVED_ENTRIES, connections, () -> {});
        this.poster = new QueuePoster(connections, ended);
        this.maxBytes = device.maxMessageBytes();
        this.atomics = device.context().limits().atomics();
    }

    /**
     * Reads {@code bytes} bytes of a region into a buffer.
     *
     * @param offset in the region, from 0
     * @param at in the buffer, from 0
     * @param bytes 1 to {@link RemoteMemory#maxMessageBytes}
     * @return one of {@link PostResult}
     */
    public int read(RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        return post(false, region, offset, buffer, at, bytes, tag);
    }

    /** Writes {@code bytes} bytes of a buffer to a region; otherwise as {@link #read}. */
    public int write(RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        return post(true, region, offset, buffer, at, bytes, tag);
    }

    private int post(
            boolean write, RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        pass();
        try {
            int verdict = check(region, offset, buffer, at, bytes);
            if (verdict != PostResult.OK) {
                return verdict;
            }
            count(write, bytes);
            Connection connection = connections.present(region.serverIndex());
            long local = buffer.address() + at;
            long remote = region.address() + offset;
            if (listing) {
                poster.beginLists(1);
                connection.list(write, tag, local, buffer.localKey(), remote, region.remoteKey(), bytes);
            } else {
                doorbells++;
                poster.post(connection, write, tag, local, buffer.localKey(), remote, region.remoteKey(), bytes);
            }
            return PostResult.OK;
        } finally {
            leave();
        }
    }

    private void count(boolean write, int bytes) {
        if (write) {
            writes++;
            bytesWritten += bytes;
        } else {
            reads++;
            bytesRead += bytes;
        }
    }

    /**
     * Stores {@code value} in 8 bytes of a region if they hold {@code expected}. Their old value is written to the
     * buffer: the store happened exactly if it equals {@code expected}. Atomic with respect to other atomics of this
     * device, and to 8-byte READs and WRITEs.
     *
     * @param offset a multiple of 8
     * @param at in the buffer, where the 8 bytes of the old value go: their address must be a multiple of 8, so in a
     *     buffer that the library allocated {@code at} is one
     * @return one of {@link PostResult}; {@link PostResult#INVALID} also if the device does no atomics
     */
    public int compareAndSwap(
            RemoteRegion region, long offset, long expected, long value, RegisteredBuffer old, long at, long tag) {
        return post(true, region, offset, expected, value, old, at, tag);
    }

    /**
     * Adds {@code delta} to 8 bytes of a region and writes their old value to the buffer. Otherwise as
     * {@link #compareAndSwap}.
     */
    public int fetchAndAdd(RemoteRegion region, long offset, long delta, RegisteredBuffer old, long at, long tag) {
        return post(false, region, offset, delta, 0, old, at, tag);
    }

    private int post(
            boolean swap,
            RemoteRegion region,
            long offset,
            long compareOrAdd,
            long value,
            RegisteredBuffer old,
            long at,
            long tag) {
        enter();
        try {
            int verdict = checkAtomic(region, offset, old, at);
            if (verdict != PostResult.OK) {
                return verdict;
            }
            if (swap) {
                swaps++;
            } else {
                adds++;
            }
            Connection connection = connections.present(region.serverIndex());
            long local = old.address() + at;
            long remote = region.address() + offset;
            int key = old.localKey();
            if (listing) {
                poster.beginLists(1);
                connection.listAtomic(swap, tag, local, key, remote, region.remoteKey(), compareOrAdd, value);
            } else {
                doorbells++;
                poster.postAtomic(connection, swap, tag, local, key, remote, region.remoteKey(), compareOrAdd, value);
            }
            return PostResult.OK;
        } finally {
            exit();
        }
    }

    /**
     * Executes one READ or WRITE from post to completion in one native call, if nothing else is in flight on the queue:
     * the shortest path. Otherwise it posts it as {@link #read} and {@link #write} do.
     *
     * @return {@link PostResult#DONE} if it has completed, and its tag will not be returned; else as {@link #read}
     */
    public int execute(
            boolean write, RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        enter();
        try {
            if (listing || !ended.isIdle()) {
                return post(write, region, offset, buffer, at, bytes, tag);
            }
            int verdict = check(region, offset, buffer, at, bytes);
            if (verdict != PostResult.OK) {
                return verdict;
            }
            doorbells++;
            count(write, bytes);
            Connection connection = connections.present(region.serverIndex());
            long remote = region.address() + offset;
            int result = connection
                    .now()
                    .run(write, buffer.address() + at, buffer.localKey(), remote, region.remoteKey(), bytes);
            if (result == OneOperation.COMPLETED) {
                return PostResult.DONE;
            }
            poster.adopt(connection, result, write, tag, buffer.localKey(), remote, region.remoteKey(), bytes);
            return PostResult.OK;
        } finally {
            exit();
        }
    }

    /**
     * Collects later operations until {@link #postList}, which posts them with one doorbell for each server. Collected
     * operations count as in flight. The owner calls it.
     */
    public void beginList() {
        listing = true;
    }

    /** Posts the operations collected since {@link #beginList}. */
    public void postList() {
        enter();
        try {
            listing = false;
            doorbells += poster.postLists();
        } finally {
            exit();
        }
    }

    /**
     * Hands operations that have ended to a handler, at most some dozens. Does not wait.
     *
     * @return how many were handed over
     * @throws IllegalStateException in a handler
     */
    public int poll(CompletionHandler handler) {
        beginPoll();
        enter();
        try {
            int handed = handEnded(handler);
            return links.hasNews() ? handed + links.handNews(handler::completed) : handed;
        } finally {
            exit();
            endPoll();
        }
    }

    private int handEnded(CompletionHandler handler) {
        int handed = 0;
        if (ended.hasMore()) {
            handed += handNoted(handler);
            while (ended.noteStashed()) {
                handed += handNoted(handler);
            }
        }
        int end = ended.poll();
        for (int next = ended.first(); next < end; next++) {
            OperationRing ring = ended.takeNext(next);
            if (ring == null) {
                handed += handNoted(handler);
            } else {
                handed++;
                handler.completed(ring.takeFirst(), Outcome.DONE);
            }
        }
        while (ended.hasMore() && ended.noteRefused(listing)) {
            handed += handNoted(handler);
        }
        return handed;
    }

    private int handNoted(CompletionHandler handler) {
        int handed = 0;
        while (ended.left() > 0) {
            int outcome = QueueCompletions.outcome(ended.status());
            handed++;
            handler.completed(ended.take(), outcome);
        }
        return handed;
    }

    @Override
    long arm(long nanos) {
        links.listen(waker);
        ended.requestNotification();
        return ended.hasSome() || links.hasNews() ? 0 : nanos;
    }

    /**
     * Begins to wait for the operations posted to a region's server: once {@link #drained}, all of them have ended, and
     * their WRITEs are in the server's memory. With the gate claimed. One drain of a server at a time.
     *
     * @return false if the connection has failed, or there is none: the outcome of its operations is unknown until it
     *     is {@linkplain #disconnect fenced}
     */
    public boolean drain(RemoteRegion region) {
        Connection connection = connections.to(region.serverIndex());
        if (connection == null || connection.failed()) {
            return false;
        }
        if (connection.inFlight() == 0) {
            return true;
        }
        doorbells++;
        return poster.drain(
                connection, region, device.scratch().address(), device.scratch().localKey());
    }

    /**
     * Whether the operations that {@link #drain} waits for have ended; their tags wait for the owner's polls. With the
     * gate claimed.
     */
    public boolean drained(RemoteRegion region) {
        Connection connection = connections.to(region.serverIndex());
        return connection == null || poster.drained(connection);
    }

    /**
     * How many operations may be posted to a server before the result is {@link PostResult#FULL}; 0 without a
     * connection. The owner calls it; the answer is as of its last call, since other threads connect, and fail,
     * connections.
     */
    public int room(RemoteServer server) {
        Connection connection = connections.to(server.index());
        return connection == null || connection.failed() ? 0 : Math.min(connection.room(), ended.room());
    }

    /**
     * Operations to all servers that are posted, or wait in a list, and whose tags have not been returned. The owner
     * calls it.
     */
    public int inFlight() {
        return ended.inFlight();
    }

    /**
     * Whether operations to a server are accepted, as of the owner's last call; see {@link #room}. The owner calls it.
     */
    public boolean connected(RemoteServer server) {
        Connection connection = connections.to(server.index());
        return connection != null && !connection.failed();
    }

    @Override
    void detach(int server) {
        poster.detach(server, DRAIN_NANOS);
    }

    @Override
    void fenced(int server) {
        connections.fenced(server);
    }

    @Override
    void fail(int server) {
        poster.fail(server);
    }

    private final class ConnectionLinks implements ServerLinks.Owner<ServerConnection> {

        @Override
        public ServerConnection open(RemoteServer server) {
            return numbers.connect(number -> claimed(() -> ended.forget(number)), number -> LeasedServer.of(server)
                    .connect(device.domain(), completionQueue, number, options.depth(), options.inlineBytes(), 1));
        }

        @Override
        public void ended(ServerConnection connection) {
            numbers.end(connection.connection().number());
        }

        @Override
        public void use(RemoteServer server, ServerConnection made) {
            // If the queue is closed, the links end the connection.
            if (!isClosed()) {
                poster.add(server.index(), made.connection());
            }
        }

        @Override
        public void leave(RemoteServer server, ServerConnection end) {
            detach(server.index());
        }

        @Override
        public void fail(RemoteServer server) {
            RemoteQueue.this.fail(server.index());
        }

        @Override
        public void wake() {
            RemoteQueue.this.wake();
        }
    }

    @Override
    boolean uses(RegisteredBuffer buffer) {
        return connections.usesLocal(buffer.localKey());
    }

    @Override
    boolean uses(RemoteRegion region) {
        return ended.usesRemote(region.serverIndex(), region.remoteKey());
    }

    /** Counts of the operations posted since the queue was opened. The owner calls it. */
    public VerbCounts posted() {
        return new VerbCounts(reads, writes, swaps, adds, bytesRead, bytesWritten, doorbells);
    }

    @Override
    QueueLinkChanges<?> links() {
        return links;
    }

    @Override
    void forgetServers() {
        connections.forgetServers();
        ended.shut();
    }

    @Override
    void freeAll() {
        Closeables.all(links::close, ended, channel);
    }

    private int check(RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes) {
        if (bytes < 1
                || bytes > maxBytes
                || offset < 0
                || offset > region.usableBytes() - bytes
                || at < 0
                || at > buffer.usableBytes() - bytes
                || buffer.device() != device) {
            return PostResult.INVALID;
        }
        Connection connection = connections.to(region.serverIndex());
        if (connection == null || connection.failed()) {
            return PostResult.LOST;
        }
        return poster.hasRoom(connection) ? PostResult.OK : PostResult.FULL;
    }

    private int checkAtomic(RemoteRegion region, long offset, RegisteredBuffer old, long at) {
        return atomics && ((offset | old.address() + at) & 7) == 0
                ? check(region, offset, old, at, Long.BYTES)
                : PostResult.INVALID;
    }
}
