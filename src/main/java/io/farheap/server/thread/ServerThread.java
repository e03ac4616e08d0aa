package io.farheap.server.thread;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.posix.Epoll;
import io.farheap.posix.EventFd;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.MessageRing;
import io.farheap.server.fence.FailPoint;
import io.farheap.server.service.ServerService;
import io.farheap.server.service.ServerWork;
import io.farheap.thread.AgentThread;
import io.farheap.thread.FailSafeLog;
import io.farheap.thread.OwnerGate;
import io.farheap.thread.ThreadAffinity;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Polls message rings and serves their batches. The thread is inside its gate while it looks at rings: a thread that
 * takes a ring or a region away claims the gate, and after that this thread uses neither any more.
 *
 * <p>An exception while it serves a ring ends that ring. Any other exception ends the thread: it fails the connections
 * of all of its rings, so that their clients notice, and accepts no new ones.
 */
public final class ServerThread implements AgentThread.DutyCycle, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ServerThread.class.getName());
    private static final MessageRing[] NONE = {};
    private static final ServerWork[] NO_WORK = {};
    private static final long STOP = 0;
    private static final long BELL = 1;
    /**
     * How often receives are renewed: a bell that arrived while the thread was awake has consumed the ring's receive.
     */
    private static final int REAP_MASK = 0xFF;
    /**
     * How often devices are polled: some make progress only while they are polled, and otherwise need a thread of their
     * own.
     */
    private static final int WORK_MASK = 3;

    private static final int REMIND_MILLIS = 1_000;

    private final OwnerGate gate = new OwnerGate();
    private final AgentThread agent;
    private final String name;
    private final CompletionChannel channel;
    private final Epoll epoll;
    private final EventFd wake;
    /** Changed inside a claim, or by the thread inside its gate. */
    private MessageRing[] rings = NONE;
    /** A ring was added since the thread last woke up. A thread that polls sleeps only if it has no rings. */
    private boolean changed;

    private int rounds;
    /**
     * Set before the thread looks at its rings for the last time; a thread that has an answer for one of the rings adds
     * the answer before it reads this field. So either this thread sees the answer, or the other sees that this one
     * sleeps, and wakes it.
     */
    private volatile boolean asleep;

    private final Object waking = new Object();
    /** Guarded by {@code waking}: after that there is nothing to signal. */
    private boolean closed;
    /** Set inside the gate when the thread ends before its time. */
    private volatile boolean dead;

    final FailPoint fault = new FailPoint();
    /** Reached by a thread that takes a ring away. */
    public final FailPoint removal = new FailPoint();

    private final Iterable<ServerService> services;
    /** Created on the thread, in its first round. */
    private ServerWork[] work = NO_WORK;

    private boolean begun;
    private final ServedRound round = new ServedRound(System::nanoTime);
    /** Index of the ring that was looked at last. */
    private int lastRing;
    /** How many rings have been looked at in this pass. */
    private int looked;

    /**
     * @param core on which it runs, or {@link ThreadAffinity#ANY}
     * @param services the services whose work it does besides its rings
     */
    ServerThread(Context context, int number, Idle idle, int core, Iterable<ServerService> services) {
        this.services = services;
        this.name = "farheap-srv-" + number;
        this.channel = context.createCompletionChannel();
        try (CloseStack stack = new CloseStack()) {
            stack.add(channel);
            epoll = stack.add(new Epoll(2));
            wake = stack.add(new EventFd());
            epoll.add(wake.fd(), STOP);
            epoll.add(channel.fd(), BELL);
            agent = new AgentThread(name, idle, core, this);
            // Started last: it fails if the process has as many threads as it may.
            agent.start();
            stack.keep();
        }
    }

    /** The channel on which its rings' completion queues raise events. */
    public CompletionChannel channel() {
        return channel;
    }

    /** Whether it accepts rings. */
    public boolean alive() {
        return !dead;
    }

    /**
     * Adds a ring.
     *
     * @return false if the thread has died, and the ring needs another one
     */
    public boolean add(MessageRing ring) {
        gate.claim();
        try {
            if (dead) {
                return false;
            }
            rings = Arrays.copyOf(rings, rings.length + 1);
            rings[rings.length - 1] = ring;
            changed = true;
        } finally {
            gate.unclaim();
        }
        wake.signal();
        return true;
    }

    /** Makes the thread look at its rings, if it sleeps. Any thread, at any time. */
    public void wakeIfAsleep() {
        if (asleep) {
            synchronized (waking) {
                if (!closed) {
                    wake.signal();
                }
            }
        }
    }

    /** For tests: runs this the next time the thread goes to sleep or wakes up. */
    public void fail(Runnable happening) {
        fault.set(happening);
        wake.signal();
    }

    /** When it returns, the thread does not touch the ring any more. */
    public void remove(MessageRing ring) {
        gate.claim();
        try {
            removal.strike();
            forget(ring);
        } finally {
            gate.unclaim();
        }
    }

    /** When it returns, the thread has executed the requests that it was executing; those of a batch come in parts. */
    public void barrier() {
        gate.claim();
        gate.unclaim();
    }

    private void forget(MessageRing ring) {
        rings = Arrays.stream(rings).filter(other -> other != ring).toArray(MessageRing[]::new);
    }

    /** Fails the connections first, then logs: there may be no memory left for the log. */
    @Override
    public void died(Throwable cause) {
        MessageRing[] orphans = NONE;
        gate.enter();
        try {
            dead = true;
            orphans = rings;
            rings = NONE;
            for (MessageRing ring : orphans) {
                fail(ring, "its server thread has ended");
            }
            endWork();
        } finally {
            gate.exit();
        }
        FailSafeLog.log(
                LOG,
                name + " has ended with an error, and " + orphans.length
                        + " message ring(s) with it; new ones go to other threads, so restart this server when you can",
                cause);
    }

    private static void fail(MessageRing ring, String reason) {
        try {
            ring.end(reason);
        } catch (Throwable e) {
            FailSafeLog.log(LOG, "cannot fail the connection of a message ring", e);
        }
    }

    @Override
    public int round() {
        int served;
        gate.enter();
        try {
            if (!begun) {
                begun = true;
                work = begin();
            }
            served = serveAll();
        } finally {
            gate.exit();
        }
        if (served == 0 && rings.length == 0) {
            sleep();
        }
        return served;
    }

    private ServerWork[] begin() {
        List<ServerWork> all = new ArrayList<>();
        for (ServerService service : services) {
            ServerWork one = service.work(this::wakeIfAsleep);
            if (one != null) {
                all.add(one);
            }
        }
        return all.toArray(ServerWork[]::new);
    }

    private void endWork() {
        for (ServerWork each : work) {
            each.ended();
        }
        work = NO_WORK;
    }

    private int serveAll() {
        int served = 0;
        boolean reap = (++rounds & REAP_MASK) == 0;
        boolean answers = (rounds & WORK_MASK) == 0;
        MessageRing[] all = rings;
        boolean over = false;
        boolean rung = false;
        boolean waiting = false;
        round.begin();
        int at = lastRing;
        for (int i = 0; i < all.length; i++) {
            at = at + 1 < all.length ? at + 1 : 0;
            MessageRing ring = all[at];
            boolean serves = !over && ring.hasBatch();
            if (!over) {
                lastRing = at;
                looked++;
            }
            if (serves && ring.takesCalls() && waits(ring.held())) {
                waiting = true;
                serves = false;
            }
            try {
                if (serves) {
                    round.serving();
                    served += ring.serve();
                } else if (!over) {
                    // A batch that arrives now is looked at in the next round.
                    ring.answerCalls();
                }
                if (reap || answers && ring.answering()) {
                    ring.reap();
                }
                rung |= ring.rung();
            } catch (RuntimeException e) {
                failed(ring, e);
            }
            if (ring.ended()) {
                forget(ring);
            }
            // The next round continues with the next ring; in between the thread opens its gate.
            over |= serves && round.over();
            if (over && !reap) {
                break;
            }
        }
        // A bell alone takes no time from what else there is to do.
        boolean busy = served > 0;
        if (rung || waiting) {
            served++;
        }
        for (ServerWork each : work) {
            if (each.run(busy)) {
                served++;
            }
        }
        if (looked >= all.length) {
            passEnds(all.length);
        }
        return served;
    }

    /** Whether a client's batches wait for others, as its calls have used more of the thread. */
    private boolean waits(HeldRegions client) {
        boolean waits = false;
        for (ServerWork each : work) {
            waits |= each.waits(client);
        }
        return waits;
    }

    /**
     * All rings have been looked at. If batches that have waited may be served now, any ring may be first: so none of a
     * client's rings waits for its others for ever.
     */
    private void passEnds(int all) {
        looked = 0;
        boolean continues = false;
        for (ServerWork each : work) {
            continues |= each.passEnds();
        }
        if (continues && all > 1) {
            lastRing = ThreadLocalRandom.current().nextInt(all);
        }
    }

    private static void failed(MessageRing ring, RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "serving a batch failed", e);
        ring.end("serving a batch failed: " + e);
    }

    /** Sleeps until a client rings its bell, a ring is added, or the thread must stop. */
    @Override
    public void sleep() {
        fault.strike();
        asleep = true;
        gate.enter();
        boolean quiet;
        try {
            quiet = settle() && !changed;
        } finally {
            gate.exit();
        }
        while (quiet && !agent.stopped()) {
            epoll.await();
            fault.strike();
            gate.enter();
            try {
                wake.drain();
                while (channel.takeEvent()) {
                    // Each is acknowledged, so that its queue can be destroyed.
                }
                // An event may have been for an answer that was sent before: then the clients still assume that this
                // thread sleeps, which is correct.
                quiet = settle() && !changed;
            } finally {
                gate.exit();
            }
        }
        asleep = false;
        gate.enter();
        try {
            changed = false;
            announce(false);
        } finally {
            gate.exit();
        }
    }

    /**
     * Arms all bells, notifies the clients that do not know yet that the thread sleeps, and looks once more. A client
     * that takes no answers, such as one that is stopped, cannot be notified while its send queue is full: then the
     * next completion wakes the thread, which notifies it.
     *
     * @return whether there is nothing to do
     */
    private boolean settle() {
        if (listen()) {
            return false;
        }
        announce(true);
        return serveAll() == 0;
    }

    private void announce(boolean asleep) {
        for (MessageRing ring : rings) {
            try {
                ring.announce(asleep);
            } catch (RuntimeException e) {
                failed(ring, e);
            }
        }
    }

    private boolean listen() {
        boolean rung = false;
        for (MessageRing ring : rings) {
            try {
                rung |= ring.listen();
            } catch (RuntimeException e) {
                failed(ring, e);
            }
        }
        return rung;
    }

    /** Ends the thread. */
    void stop() {
        agent.stop(thread -> wake.signal(), REMIND_MILLIS);
    }

    /** Ends the thread. Its rings must have been removed. */
    @Override
    public void close() {
        stop();
        endWork();
        synchronized (waking) {
            closed = true;
        }
        Closeables.all(epoll, wake, channel);
    }
}
