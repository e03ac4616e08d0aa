package io.farheap.remote;

import io.farheap.connection.Connection;
import io.farheap.lifetime.Closing;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.OneOperation;
import io.farheap.verbs.WcStatus;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * One-sided operations on the regions of many servers, posted and polled by one thread at a time, the owner. Each
 * carries a tag of 64 bits that comes back unchanged when it has ended; what that promises is told in
 * {@link io.farheap.remote}. Nothing here allocates but {@link #posted}. Operations never throw for what servers or
 * addresses do: they say one of {@link Posting}, and later one of {@link Outcome}.
 *
 * <p>An error at one server fails the operations under way to it, and no other's; until {@link #reconnect}, operations
 * to it are {@code LOST}.
 *
 * <p><b>Threads.</b> The owner posts and polls inside the queue's gate, which each call enters by itself. Where an
 * address must not change between being found and being posted to, the owner holds the gate around both
 * ({@link #enter}, {@link #exit}). Any other thread may {@link #claim} the gate, which keeps the owner out, and then
 * await what the owner has posted ({@link #drain}). Completions that it takes on the way are stashed; the owner's next
 * poll has them first, in order. All fields but those marked are written inside the gate or under a claim alone, and
 * the gate orders the two.
 */
public final class RemoteQueue extends MemoryQueue {

    static final int COMPLETION_BATCH = 32;
    /** Room in the completion queue for a flush and an operation of {@link #execute} for each connection. */
    static final int RESERVED_ENTRIES = 256;

    private static final long DRAIN_NANOS = 5_000_000_000L;

    private final CompletionQueue completions;
    private final QueueOptions options;
    private final QueueLinks<ServerConnection> links;
    private int nextNumber;
    private final Stash stash;
    private final int operations;
    private final int maxBytes;
    private final boolean atomics;

    /** By their number, also those that were replaced: a completion of theirs may still come. */
    private @Nullable Connection[] byNumber = new Connection[0];
    /** The index of each one's server. */
    private int[] serverOf = new int[0];
    /** The one to use for each server. */
    private @Nullable Connection[] byServer = new Connection[0];

    private int inFlight;
    private boolean listing;

    /** Of the completions in the completion queue's array, those before it have been taken. */
    private int at;

    private int polled;
    /** What the latest of them ends and has not been handed to a handler yet. */
    private @Nullable Connection ending;

    private long endingId;
    private int endingStatus;
    private int endingLeft;
    /** A connection has operations that no completion will come for. */
    private boolean refused;

    private long reads;
    private long writes;
    private long swaps;
    private long adds;
    private long bytesRead;
    private long bytesWritten;
    private long doorbells;

    private final Runnable waker = this::wake;

    /** Owns the channel and the completion queue from now on. */
    RemoteQueue(
            RemoteMemory memory,
            CompletionChannel channel,
            CompletionQueue completions,
            QueueOptions options,
            ExecutorService calls) {
        super(memory, channel);
        this.completions = completions;
        this.options = options;
        this.links = new QueueLinks<>(new Links(), memory.events(), channel, calls);
        this.operations = options.operations();
        this.stash = new Stash(options.operations() + RESERVED_ENTRIES);
        this.maxBytes = memory.maxMessageBytes();
        this.atomics = memory.atomics();
    }

    /**
     * Reads {@code bytes} bytes of a region into a buffer.
     *
     * @param offset in the region, from 0
     * @param at in the buffer, from 0
     * @param bytes 1 to {@link RemoteMemory#maxMessageBytes}
     * @return one of {@link Posting}
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
            if (verdict != Posting.OK) {
                return verdict;
            }
            count(write, bytes);
            inFlight++;
            Connection connection = byServer[region.serverIndex()];
            long local = buffer.address() + at;
            long remote = region.address() + offset;
            if (listing) {
                connection.list(write, tag, local, buffer.localKey(), remote, region.remoteKey(), bytes);
            } else {
                doorbells++;
                note(
                        connection,
                        write
                                ? connection.write(tag, local, buffer.localKey(), remote, region.remoteKey(), bytes)
                                : connection.read(tag, local, buffer.localKey(), remote, region.remoteKey(), bytes));
            }
            return Posting.OK;
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
     * Stores {@code value} in 8 bytes of a region where they hold {@code expected}. What they held before lands in the
     * buffer: it was stored exactly if that equals {@code expected}. Atomic with respect to other atomics of this
     * device, and to 8-byte READs and WRITEs.
     *
     * @param offset a multiple of 8
     * @param at a multiple of 8, where 8 bytes land
     * @return one of {@link Posting}; {@link Posting#INVALID} also where the device does no atomics
     */
    public int compareAndSwap(
            RemoteRegion region, long offset, long expected, long value, RegisteredBuffer old, long at, long tag) {
        return post(true, region, offset, expected, value, old, at, tag);
    }

    /**
     * Adds {@code delta} to 8 bytes of a region; what they held before lands in the buffer. Otherwise as
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
            if (verdict != Posting.OK) {
                return verdict;
            }
            if (swap) {
                swaps++;
            } else {
                adds++;
            }
            inFlight++;
            Connection connection = byServer[region.serverIndex()];
            long local = old.address() + at;
            long remote = region.address() + offset;
            if (listing) {
                connection.listAtomic(
                        swap, tag, local, old.localKey(), remote, region.remoteKey(), compareOrAdd, value);
            } else {
                doorbells++;
                note(
                        connection,
                        connection.atomic(
                                swap, tag, local, old.localKey(), remote, region.remoteKey(), compareOrAdd, value));
            }
            return Posting.OK;
        } finally {
            exit();
        }
    }

    /**
     * One READ or WRITE from post to completion in one native call, where nothing else is in flight on the queue: the
     * shortest way. Where something is, it is posted as by {@link #read} and {@link #write}.
     *
     * @return {@link Posting#DONE}: it is done, and the tag does not come back; else as {@link #read}
     */
    public int execute(
            boolean write, RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        enter();
        try {
            if (inFlight > 0 || listing || stash.count() > 0) {
                return write
                        ? write(region, offset, buffer, at, bytes, tag)
                        : read(region, offset, buffer, at, bytes, tag);
            }
            int verdict = check(region, offset, buffer, at, bytes);
            if (verdict != Posting.OK) {
                return verdict;
            }
            doorbells++;
            count(write, bytes);
            Connection connection = byServer[region.serverIndex()];
            long remote = region.address() + offset;
            int result = connection
                    .now()
                    .run(write, buffer.address() + at, buffer.localKey(), remote, region.remoteKey(), bytes);
            return result == OneOperation.COMPLETED
                    ? Posting.DONE
                    : adopt(connection, result, write, buffer.localKey(), remote, region.remoteKey(), bytes, tag);
        } finally {
            exit();
        }
    }

    /** What {@link #execute} has begun and not ended becomes an ordinary operation. */
    private int adopt(
            Connection connection,
            int result,
            boolean write,
            int localKey,
            long remote,
            int remoteKey,
            int bytes,
            long tag) {
        if (result == OneOperation.OTHER_COMPLETION) {
            stash.add(completions.id(0), completions.status(0));
        }
        connection.adopt(tag, write, localKey, remote, remoteKey, bytes);
        inFlight++;
        if (result == OneOperation.FAILED) {
            connection.fail();
            stash.add(connection.lastId(), WcStatus.WR_FLUSH_ERR);
        }
        return Posting.OK;
    }

    /**
     * Operations from now on wait for {@link #postList}: one doorbell for each server. Operations that wait count as in
     * flight.
     */
    public void beginList() {
        listing = true;
    }

    /** Posts what waits since {@link #beginList}. */
    public void postList() {
        enter();
        try {
            listing = false;
            postLists();
        } finally {
            exit();
        }
    }

    private void postLists() {
        for (Connection connection : byServer) {
            if (connection != null && connection.listing()) {
                if (connection.failed()) {
                    connection.abandonList();
                    refused = true;
                } else {
                    doorbells++;
                    note(connection, connection.postList());
                }
            }
        }
    }

    /**
     * Hands operations that have ended to a handler, at most some dozens. Does not wait.
     *
     * @return how many
     */
    public int poll(CompletionHandler handler) {
        enter();
        try {
            int handed = hand(handler);
            while (stash.count() > 0) {
                // Taken before it is handed over: a handler may throw.
                long id = stash.firstId();
                int status = stash.firstStatus();
                stash.removeFirst();
                end(id, status);
                handed += hand(handler);
            }
            while (fetch()) {
                handed += takeNext(handler);
                if (at == polled) {
                    break;
                }
            }
            if (refused) {
                handed += handRefused(handler);
            }
            return links.hasNews() ? handed + links.handNews(handler::completed) : handed;
        } finally {
            exit();
        }
    }

    /** Whether there is a completion to take. */
    private boolean fetch() {
        checkOpen();
        if (at == polled) {
            polled = completions.poll();
            at = 0;
        }
        return at < polled;
    }

    /** Hands over what the next completion ends. */
    private int takeNext(CompletionHandler handler) {
        int next = at++;
        long id = completions.id(next);
        int status = completions.status(next);
        Connection connection = byNumber[Connection.connectionOf(id)];
        if (status != WcStatus.SUCCESS || !connection.endsFirst(id)) {
            end(id, status);
            return hand(handler);
        }
        // Most completions. Nothing is left to note should the handler throw.
        inFlight--;
        handler.completed(connection.takeFirst(), Outcome.DONE);
        return 1;
    }

    private void end(long id, int status) {
        Connection connection = byNumber[Connection.connectionOf(id)];
        int ended = connection.complete(id, status);
        if (status != WcStatus.SUCCESS) {
            refused = true;
        }
        if (ended > 0) {
            ending = connection;
            endingId = id;
            endingStatus = status;
            endingLeft = ended;
        }
    }

    /** Hands over what the latest completion ends. */
    // While some are left, there is a connection that they are of.
    @SuppressWarnings("NullAway")
    private int hand(CompletionHandler handler) {
        int handed = 0;
        while (endingLeft > 0) {
            endingLeft--;
            inFlight--;
            handed++;
            handler.completed(ending.take(endingId), endingLeft == 0 ? Outcome.of(endingStatus) : Outcome.DONE);
        }
        return handed;
    }

    private int handRefused(CompletionHandler handler) {
        int handed = 0;
        boolean waiting = false;
        for (Connection connection : byNumber) {
            if (connection == null) {
                continue;
            }
            if (connection.failed() && connection.listing() && !listing) {
                connection.abandonList();
            }
            for (int left = connection.refused(); left > 0; left--) {
                inFlight--;
                handed++;
                handler.completed(connection.takeFirst(), Outcome.NOT_POSTED);
            }
            waiting |= connection.failed() && connection.inFlight() > 0;
        }
        refused = waiting;
        return handed;
    }

    @Override
    long arm(long nanos) {
        links.listen(waker);
        completions.requestNotification();
        // What completed before raises no event.
        return endingLeft > 0 || stash.count() > 0 || refused || links.hasNews() || fetch() ? 0 : nanos;
    }

    /**
     * Begins to await what has been posted to a region's server: when {@link #drained}, all of it has ended, and its
     * WRITEs are in memory. With the gate claimed. One drain of a server at a time.
     *
     * @return false where the connection has failed, or there is none: what it posted is unknown until it is
     *     {@linkplain #disconnect fenced}
     */
    public boolean drain(RemoteRegion region) {
        Connection connection = connection(region.serverIndex());
        if (connection == null || connection.failed()) {
            return false;
        }
        if (connection.inFlight() == 0) {
            return true;
        }
        doorbells++;
        if (connection.flush(memory.scratchAddress(), memory.scratchKey(), region.address(), region.remoteKey()) != 0) {
            connection.fail();
            refused = true;
            return false;
        }
        return true;
    }

    /** Whether what {@link #drain} awaits has ended; its tags wait for the owner's polls. With the gate claimed. */
    public boolean drained(RemoteRegion region) {
        Connection connection = connection(region.serverIndex());
        if (connection == null || !connection.flushing()) {
            return true;
        }
        stashAll();
        return !connection.flushing();
    }

    /** Takes all completions; those of flushes end here, the others wait for the owner. */
    private void stashAll() {
        while (fetch()) {
            int next = at++;
            long id = completions.id(next);
            Connection connection = byNumber[Connection.connectionOf(id)];
            if (id == connection.flushId()) {
                connection.complete(id, completions.status(next));
            } else {
                stash.add(id, completions.status(next));
            }
        }
    }

    /**
     * Operations that may be posted to a server before the queue says {@link Posting#FULL}; 0 where there is no
     * connection.
     */
    public int room(RemoteServer server) {
        Connection connection = connection(server.index());
        return connection == null || connection.failed() ? 0 : Math.min(connection.room(), operations - inFlight);
    }

    /** Operations that have been posted, or wait in a list, and whose tags have not come back. */
    public int inFlight() {
        return inFlight;
    }

    /** Whether operations to a server are taken. */
    public boolean connected(RemoteServer server) {
        Connection connection = connection(server.index());
        return connection != null && !connection.failed();
    }

    /**
     * Fails the connection to a server, if there is one, and stashes its completions: destroying a queue pair would
     * drop them.
     */
    @Override
    void detach(int server) {
        Connection connection = connection(server);
        if (connection == null) {
            return;
        }
        byServer[server] = null;
        connection.abandonList();
        connection.fail();
        refused = true;
        long last = connection.lastId();
        long deadline = System.nanoTime() + DRAIN_NANOS;
        while (last >= 0 && !ended(connection, last) && System.nanoTime() - deadline < 0) {
            stashAll();
        }
        connection.forEachUnknown(stash::contains, id -> stash.add(id, WcStatus.WR_FLUSH_ERR));
    }

    private boolean ended(Connection connection, long last) {
        return stash.contains(last)
                || connection.inFlight() == 0
                || endingLeft > 0 && ending == connection && endingId == last;
    }

    @Override
    void fail(int server) {
        Connection connection = connection(server);
        if (connection != null) {
            connection.fail();
            refused = true;
        }
    }

    private final class Links implements QueueLinks.Owner<ServerConnection> {

        @Override
        public ServerConnection connect(RemoteServer server) {
            return server.connect(
                    memory.domain(), completions, nextNumber++, options.depth(), options.inlineBytes(), 1);
        }

        @Override
        public void add(ServerConnection made) {
            RemoteQueue.this.add(made.server(), made.connection());
        }

        @Override
        public void wake() {
            RemoteQueue.this.wake();
        }
    }

    private void add(RemoteServer owner, Connection connection) {
        int server = owner.index();
        if (connection.number() >= byNumber.length) {
            byNumber = Arrays.copyOf(byNumber, connection.number() + 1);
            serverOf = Arrays.copyOf(serverOf, connection.number() + 1);
        }
        byNumber[connection.number()] = connection;
        serverOf[connection.number()] = server;
        if (server >= byServer.length) {
            byServer = Arrays.copyOf(byServer, server + 1);
        }
        byServer[server] = connection;
        // Either this sees the loss, or whoever fails what is lost sees the connection.
        if (owner.lost() != null) {
            fail(server);
        }
    }

    @Override
    boolean uses(RegisteredBuffer buffer) {
        for (Connection connection : byNumber) {
            if (connection != null && connection.usesLocal(buffer.localKey())) {
                return true;
            }
        }
        return false;
    }

    @Override
    boolean uses(RemoteRegion region) {
        for (int number = 0; number < byNumber.length; number++) {
            Connection connection = byNumber[number];
            // Two servers may give the same key.
            if (connection != null
                    && serverOf[number] == region.serverIndex()
                    && connection.usesRemote(region.remoteKey())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether an operation on a region has not been handed over. Any thread but the owner inside the gate; of a queue
     * that is closed none is.
     */
    public boolean isUsing(RemoteRegion region) {
        return used(List.of(region)) != null;
    }

    /** What has been posted since the queue was opened. The owner. */
    public VerbCounts posted() {
        return new VerbCounts(reads, writes, swaps, adds, bytesRead, bytesWritten, doorbells);
    }

    @Override
    QueueLinks<?> links() {
        return links;
    }

    @Override
    void forgetServers() {
        Arrays.fill(byServer, null);
    }

    @Override
    void free() {
        Closing.all(links::close, completions, channel);
    }

    private @Nullable Connection connection(int server) {
        return server < byServer.length ? byServer[server] : null;
    }

    private int check(RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes) {
        if (bytes < 1
                || bytes > maxBytes
                || offset < 0
                || offset > region.usableBytes() - bytes
                || at < 0
                || at > buffer.usableBytes() - bytes
                || buffer.owner() != memory) {
            return Posting.INVALID;
        }
        int server = region.serverIndex();
        Connection connection = server < byServer.length ? byServer[server] : null;
        if (connection == null || connection.failed()) {
            return Posting.LOST;
        }
        return connection.hasRoom() && inFlight < operations ? Posting.OK : Posting.FULL;
    }

    private int checkAtomic(RemoteRegion region, long offset, RegisteredBuffer old, long at) {
        return atomics && ((offset | old.address() + at) & 7) == 0
                ? check(region, offset, old, at, Long.BYTES)
                : Posting.INVALID;
    }

    private void note(Connection connection, int error) {
        if (error != 0) {
            connection.fail();
            refused = true;
        }
    }
}
