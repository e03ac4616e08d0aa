package io.farheap.cache;

import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.ServerRing;
import io.farheap.rpc.BatchConnection;
import io.farheap.rpc.RingShape;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A session's message rings, one pair to each server, beside its connections for one-sided operations. Any thread but the session's may
 * call; the gate is claimed for the moments in which the session must not use them.
 */
final class SessionRings implements Links {

    private final Links direct;
    private final OwnerGate gate;
    private final SessionBatches batches;
    private final Context context;
    private final CompletionChannel channel;
    private final CacheConfiguration configuration;
    private final RingShape shape;
    /** Excludes those who make and end rings, which takes as long as servers take to answer. */
    private final ReentrantLock changing = new ReentrantLock();
    /** Guarded by {@code changing}. */
    private final List<ServerRing> rings = new ArrayList<>();
    /** Disconnected; their last answers may not have been taken yet. */
    private final List<ServerRing> retired = new ArrayList<>();
    /** Of rings that a silent server would not let go of. */
    private final List<CompletableFuture<Void>> late = new ArrayList<>();
    /** What the latest flush awaits, and for how long. One migration at a time flushes. */
    private long flushMark;
    private long flushDeadline;
    private boolean closed;

    /** @param direct the connections beside, of which it is the owner */
    SessionRings(Links direct, OwnerGate gate, SessionBatches batches, Context context, CompletionChannel channel, CacheConfiguration configuration) {
        this.direct = direct;
        this.gate = gate;
        this.batches = batches;
        this.context = context;
        this.channel = channel;
        this.configuration = configuration;
        this.shape = new RingShape(Math.min(configuration.queueDepth(), RingShape.MAX_QUEUE_DEPTH), configuration.batch());
    }

    @Override
    public void connect(RemoteServer server) {
        direct.connect(server);
        connectRing(server);
    }

    private void connectRing(RemoteServer server) {
        changing.lock();
        try {
            if (closed) {
                return;
            }
            ServerRing ring = server.connectRing(context, channel, shape, configuration.serverThreads(), configuration.inlineBytes());
            gate.claim();
            rings.add(ring);
            batches.add(server.index(), ring.connection());
            gate.unclaim();
            // Either this sees the loss, or whoever fails what is lost sees the ring.
            if (server.lost() != null) {
                lose(server);
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void ensure(RemoteServer server) {
        changing.lock();
        try {
            gate.claim();
            BatchConnection connection = batches.connection(server.index());
            boolean usable = connection != null && !connection.failed();
            gate.unclaim();
            if (!usable) {
                // It is fenced before anything can go another way.
                disconnectRing(server);
            }
            direct.ensure(server);
            if (!closed && !usable) {
                connectRing(server);
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void disconnect(RemoteServer server) {
        direct.disconnect(server);
        disconnectRing(server);
    }

    private void disconnectRing(RemoteServer server) {
        changing.lock();
        try {
            ServerRing ring = find(server);
            if (closed || ring == null) {
                return;
            }
            gate.claim();
            try {
                ring.connection().fail();
                batches.remove(server.index());
                rings.remove(ring);
                retired.add(ring);
            } finally {
                gate.unclaim();
            }
            ring.disconnect();
            closeRetired();
        } finally {
            changing.unlock();
        }
    }

    private void closeRetired() {
        List<ServerRing> finished = new ArrayList<>();
        gate.claim();
        for (ServerRing ring : retired) {
            if (ring.connection().isIdle()) {
                finished.add(ring);
            }
        }
        retired.removeAll(finished);
        gate.unclaim();
        closeAll(finished);
    }

    private void closeAll(List<ServerRing> ended) {
        Closing.all(ended.stream().<AutoCloseable>map(ring -> () -> close(ring)).toList());
    }

    private void close(ServerRing ring) {
        ring.close();
        late.removeIf(CompletableFuture::isDone);
        if (!ring.closed().isDone()) {
            late.add(ring.closed());
        }
    }

    @Override
    public void lose(RemoteServer server) {
        direct.lose(server);
        gate.claim();
        try {
            BatchConnection connection = batches.connection(server.index());
            if (!closed && connection != null) {
                connection.fail();
            }
        } finally {
            gate.unclaim();
        }
    }

    @Override
    public boolean flushedAlready(RemoteRegion region) {
        BatchConnection connection = batches.connection(region.serverIndex());
        return direct.flushedAlready(region) && connection != null && connection.isAnswered() && !connection.failed();
    }

    @Override
    public boolean flush(RemoteRegion region) {
        return direct.flush(region) & flush(region.server());
    }

    @Override
    public boolean flushed(RemoteRegion region) {
        return direct.flushed(region) & flushed(region.server());
    }

    /** What waits in a batch is sent. */
    private boolean flush(RemoteServer server) {
        boolean done = true;
        boolean unknown = false;
        gate.claim();
        try {
            BatchConnection connection = batches.connection(server.index());
            if (connection == null || connection.failed() || closed && !connection.isAnswered()) {
                unknown = true;
            } else {
                flushMark = connection.mark();
                flushDeadline = System.nanoTime() + FLUSH_TIMEOUT_NANOS;
                connection.send();
                connection.receive();
                done = connection.answered(flushMark);
                unknown = connection.failed();
            }
        } finally {
            gate.unclaim();
        }
        if (unknown) {
            fence(server);
        }
        return done || unknown;
    }

    private boolean flushed(RemoteServer server) {
        boolean done;
        boolean unknown;
        gate.claim();
        try {
            BatchConnection connection = batches.connection(server.index());
            if (connection != null && !closed && !connection.answered(flushMark)) {
                connection.send();
                connection.receive();
                if (!connection.answered(flushMark) && System.nanoTime() - flushDeadline > 0) {
                    connection.fail();
                }
            }
            done = connection != null && connection.answered(flushMark);
            unknown = connection == null || connection.failed() || !done && closed;
        } finally {
            gate.unclaim();
        }
        if (unknown) {
            fence(server);
        }
        return done || unknown;
    }

    /**
     * Returns when nothing of what is unknown can come to pass any more. Where another thread replaces the connection, that does it. A
     * failed connection sends nothing any more, so the fence needs no claim.
     */
    private void fence(RemoteServer server) {
        changing.lock();
        try {
            ServerRing ring = find(server);
            if (ring != null && (closed || ring.connection().failed())) {
                ring.fence();
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void close() {
        changing.lock();
        try {
            gate.claim();
            boolean first = !closed;
            closed = true;
            gate.unclaim();
            // Not before: who finds a ring failed, and this not closed, fails its direct connection too.
            Closing.all(direct, first ? () -> closeAll(rings) : null, first ? () -> closeAll(retired) : null);
        } finally {
            changing.unlock();
        }
    }

    @Override
    public CompletableFuture<Void> closed() {
        changing.lock();
        try {
            return CompletableFuture.allOf(late.toArray(CompletableFuture[]::new));
        } finally {
            changing.unlock();
        }
    }

    private ServerRing find(RemoteServer server) {
        for (ServerRing ring : rings) {
            if (ring.server() == server) {
                return ring;
            }
        }
        return null;
    }
}
