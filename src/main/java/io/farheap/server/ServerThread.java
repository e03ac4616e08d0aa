package io.farheap.server;

import io.farheap.posix.Posix;
import io.farheap.thread.Idle;
import io.farheap.thread.IdleRounds;
import io.farheap.thread.Joining;
import io.farheap.thread.OwnerGate;
import io.farheap.thread.Pinning;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;

import java.util.Arrays;

/**
 * Polls message rings and serves their batches. The thread is inside its gate while it looks at rings: whoever takes a ring or a region
 * away claims the gate, and then nothing of it is in use any more.
 */
final class ServerThread implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ServerThread.class.getName());
    private static final long STOP = 0;
    private static final long BELL = 1;
    /** A bell that came while nobody slept has used up the ring's receive: it is renewed now and then. */
    private static final int REAP_MASK = 0xFF;
    /** Some devices work while they are polled, and need a thread of their own where nobody does. */
    private static final int WORK_MASK = 3;

    private final OwnerGate gate = new OwnerGate();
    private final IdleRounds idle;
    private final CompletionChannel channel;
    private final int core;
    private final int epoll;
    private final int wake;
    private final Thread thread;
    private final long[] ready = new long[2];
    /** Changed inside a claim, or by the thread inside its gate. */
    private MessageRing[] rings = {};
    /** A ring was added, which knows nothing of our sleep yet. */
    private boolean changed;
    private int rounds;
    private volatile boolean stopped;

    /** @param core where it runs, or {@link Pinning#ANY} */
    ServerThread(Context context, int number, Idle idle, int core) {
        this.idle = new IdleRounds(idle);
        this.core = core;
        this.channel = context.createCompletionChannel();
        int epoll = -1;
        int wake = -1;
        try {
            epoll = Posix.epoll();
            wake = Posix.eventFd();
            Posix.epollAdd(epoll, wake, STOP);
            Posix.epollAdd(epoll, channel.fd(), BELL);
        } catch (Throwable e) {
            if (wake >= 0) {
                Posix.close(wake);
            }
            if (epoll >= 0) {
                Posix.close(epoll);
            }
            channel.close();
            throw e;
        }
        this.epoll = epoll;
        this.wake = wake;
        this.thread = new Thread(this::run, "farheap-srv-" + number);
        thread.setDaemon(true);
        thread.start();
    }

    /** On which its rings' completion queues raise events. */
    CompletionChannel channel() {
        return channel;
    }

    void add(MessageRing ring) {
        gate.claim();
        rings = Arrays.copyOf(rings, rings.length + 1);
        rings[rings.length - 1] = ring;
        changed = true;
        gate.unclaim();
        Posix.signal(wake);
    }

    /** When it returns, the thread does not touch the ring any more. */
    void remove(MessageRing ring) {
        gate.claim();
        forget(ring);
        gate.unclaim();
    }

    /** When it returns, the thread has finished what it was serving. */
    void barrier() {
        gate.claim();
        gate.unclaim();
    }

    private void forget(MessageRing ring) {
        rings = Arrays.stream(rings).filter(other -> other != ring).toArray(MessageRing[]::new);
    }

    private void run() {
        Pinning.pin(core);
        while (!stopped) {
            if (round() > 0) {
                idle.reset();
            } else if (rings.length == 0 || idle.fruitless()) {
                sleep();
                idle.reset();
            }
        }
    }

    private int round() {
        gate.enter();
        try {
            return serveAll();
        } finally {
            gate.exit();
        }
    }

    private int serveAll() {
        int served = 0;
        boolean reap = (++rounds & REAP_MASK) == 0;
        boolean work = (rounds & WORK_MASK) == 0;
        for (MessageRing ring : rings) {
            try {
                served += ring.serve();
                if (reap || work && ring.answering()) {
                    ring.reap();
                }
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "serving a batch failed", e);
                ring.end("serving a batch failed: " + e);
            }
            if (ring.ended()) {
                forget(ring);
            }
        }
        return served;
    }

    /** Sleeps until a client rings, a ring is added, or the thread is to stop. */
    private void sleep() {
        gate.enter();
        boolean quiet;
        try {
            changed = false;
            quiet = announce(true) && !listen() && serveAll() == 0;
        } finally {
            gate.exit();
        }
        while (quiet && !stopped) {
            Posix.epollWait(epoll, ready);
            gate.enter();
            try {
                Posix.drain(wake);
                while (channel.takeEvent()) {
                    // Each is acknowledged, so that its queue can be destroyed.
                }
                // An event may have been for an answer that was sent before: then the clients still take us for asleep, rightly.
                quiet = !listen() && serveAll() == 0 && !changed;
            } finally {
                gate.exit();
            }
        }
        gate.enter();
        try {
            announce(false);
        } finally {
            gate.exit();
        }
    }

    private boolean announce(boolean asleep) {
        boolean told = true;
        for (MessageRing ring : rings) {
            told &= ring.announce(asleep);
        }
        return told;
    }

    private boolean listen() {
        boolean rung = false;
        for (MessageRing ring : rings) {
            rung |= ring.listen();
        }
        return rung;
    }

    /** Ends the thread. Its rings must be gone. */
    @Override
    public void close() {
        stopped = true;
        Posix.signal(wake);
        Joining.join(thread);
        Posix.close(epoll);
        Posix.close(wake);
        channel.close();
    }
}
