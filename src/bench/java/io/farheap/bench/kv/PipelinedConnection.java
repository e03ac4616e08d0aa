package io.farheap.bench.kv;

import io.farheap.remote.contract.VerbCounts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;

/**
 * A connection to a {@link CacheServer}, which the clients of one thread share: the requests that are under way are
 * written together, and answered in their order. That is the fastest way to use these servers, and a Java client's
 * futures, which would cost more than the server, are left out. It is closed with its last client. One thread.
 */
final class PipelinedConnection {

    private static final int BUFFER_BYTES = 1 << 16;
    /** More than a request has. */
    private static final int REQUEST_BYTES = 512;
    /** Sets under way while the store is filled. */
    private static final int FILLING = 64;

    /** Receives the end of a request. */
    @FunctionalInterface
    private interface Waiting {
        void ended(boolean absent);
    }

    private final SocketChannel channel;
    private final CacheProtocol protocol;
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private int clients;

    /**
     * Uses a connection, and closes it at the end.
     *
     * @param spins whether its thread spins for answers, or sleeps: the server needs a core, too
     */
    PipelinedConnection(SocketChannel channel, CacheProtocol protocol, boolean spins) {
        this.channel = channel;
        this.protocol = protocol;
        try {
            channel.configureBlocking(!spins);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot use the connection", e);
        }
    }

    /** Local memory of a connection. */
    static long bytes() {
        return 2L * BUFFER_BYTES;
    }

    /** Sets the keys from 0. */
    void fill(long keys) {
        for (long key = 0; key < keys; key++) {
            set(key, absent -> {});
            while (waiting.size() >= FILLING) {
                exchange();
            }
        }
        while (!waiting.isEmpty()) {
            exchange();
        }
    }

    /** Opens a client, which makes one request at a time. */
    ClosedLoop.LoopClient client(YcsbRequests requests) {
        clients++;
        return new Client(requests);
    }

    private void get(long key, Waiting client) {
        makeRoom();
        protocol.get(out, key);
        waiting.add(client);
    }

    private void set(long key, Waiting client) {
        makeRoom();
        protocol.set(out, key);
        waiting.add(client);
    }

    private void makeRoom() {
        if (out.remaining() < REQUEST_BYTES) {
            flush();
        }
    }

    private void flush() {
        out.flip();
        try {
            while (out.hasRemaining()) {
                channel.write(out);
            }
        } catch (IOException e) {
            throw broken(e);
        }
        out.clear();
    }

    /** Writes the requests, and takes the answers that have arrived; a thread that sleeps waits for some of them. */
    private void exchange() {
        if (out.position() > 0) {
            flush();
        }
        try {
            if (channel.read(in) < 0) {
                throw new IllegalStateException("the server has closed the connection");
            }
        } catch (IOException e) {
            throw broken(e);
        }
        in.flip();
        while (!waiting.isEmpty()) {
            CacheAnswer answer = protocol.answer(in);
            if (answer == CacheAnswer.INCOMPLETE) {
                break;
            }
            waiting.remove().ended(answer == CacheAnswer.ABSENT);
        }
        in.compact();
    }

    private static UncheckedIOException broken(IOException e) {
        return new UncheckedIOException("the connection to the server is broken", e);
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw broken(e);
        }
    }

    private final class Client implements ClosedLoop.LoopClient, Waiting {

        private final YcsbRequests requests;
        private boolean underWay;
        private long gets;
        private long absent;

        Client(YcsbRequests requests) {
            this.requests = requests;
        }

        @Override
        public void begin() {
            requests.next();
            underWay = true;
            if (requests.set()) {
                set(requests.key(), this);
            } else {
                gets++;
                get(requests.key(), this);
            }
        }

        @Override
        public void ended(boolean isAbsent) {
            underWay = false;
            absent += isAbsent ? 1 : 0;
        }

        /** The oldest request alone looks for answers: no other one has ended before it. */
        @Override
        public boolean ended() {
            if (underWay && waiting.peek() == this) {
                exchange();
            }
            return !underWay;
        }

        @Override
        public VerbCounts posted() {
            return MapTrace.none();
        }

        @Override
        public long gets() {
            return gets;
        }

        @Override
        public long absent() {
            return absent;
        }

        @Override
        public void close() {
            clients--;
            if (clients == 0) {
                PipelinedConnection.this.close();
            }
        }
    }
}
