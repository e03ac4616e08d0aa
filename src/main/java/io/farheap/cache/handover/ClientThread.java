package io.farheap.cache.handover;

import io.farheap.cache.session.SessionCore;
import io.farheap.posix.AsymmetricFence;
import io.farheap.thread.AgentThread;
import io.farheap.thread.ThreadAffinity;
import io.farheap.thread.idle.Idle;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that processes the requests of application threads (Redy, section 4.1): it takes them from the rings of the
 * sessions that it serves, and issues them in a session of its own, with its own connections.
 */
public final class ClientThread implements AgentThread.DutyCycle, HandoverPath.HandoverPeer {

    private static final System.Logger LOG = System.getLogger(ClientThread.class.getName());
    private static final HandoverConsumer[] NONE = {};
    private static final long LOOK_NANOS = 1_000_000;
    private static final int REMIND_MILLIS = 10;

    private final SessionCore worker;
    private final int core;
    private final String name;
    private final AgentThread agent;
    private final Thread thread;
    private final CopyOnWriteArrayList<HandoverConsumer> served = new CopyOnWriteArrayList<>();
    /** The same as an array, which the thread iterates over without allocating. */
    private volatile HandoverConsumer[] rings = NONE;

    private volatile boolean copiesPrepared;
    private volatile boolean asleep;
    private volatile boolean dead;

    /**
     * @param worker its session, which it owns from its start
     * @param core the core that it is pinned to, or {@link ThreadAffinity#ANY}
     */
    public ClientThread(SessionCore worker, String name, Idle idle, int core) {
        this.worker = worker;
        this.core = core;
        this.name = name;
        this.agent = new AgentThread(name, idle, core, this);
        this.thread = agent.start();
    }

    public int core() {
        return core;
    }

    /** Whether it has ended and serves no session any more. */
    public boolean dead() {
        return dead;
    }

    /** How many sessions it serves. */
    public int load() {
        return served.size();
    }

    @Override
    public boolean mayAccess(MemorySegment segment) {
        return segment.isAccessibleBy(thread);
    }

    @Override
    public void prepareCopies() {
        if (!copiesPrepared) {
            worker.requests.prepareCopies();
            copiesPrepared = true;
        }
    }

    /**
     * Serves a session's requests from now on. Synchronized since sessions are opened and closed at the same time, and
     * the array stored last has to be the latest.
     */
    public synchronized void add(HandoverConsumer requests) {
        served.add(requests);
        rings = served.toArray(NONE);
    }

    /** Serves a session no longer. It has no request pending, or no thread waits for its requests any more. */
    public synchronized void remove(HandoverConsumer requests) {
        served.remove(requests);
        rings = served.toArray(NONE);
    }

    @Override
    public void wakeIfAsleep() {
        if (asleep) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void died(Throwable cause) {
        dead = true;
        if (!agent.stopped()) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "thread " + name
                            + " cannot continue: the requests of its sessions are lost; close these and open others",
                    cause);
            loseAll();
        }
    }

    @Override
    public int round() {
        int done = 0;
        for (HandoverConsumer requests : rings) {
            if (requests.hasWork() || requests.hasMore()) {
                done += worker.progress.take(requests);
            }
        }
        done += worker.progress.poll();
        int held = worker.pending.held();
        for (HandoverConsumer requests : rings) {
            requests.tell(held);
        }
        return done;
    }

    @Override
    public void sleep() {
        asleep = true;
        try {
            AsymmetricFence.heavy();
            for (HandoverConsumer requests : rings) {
                if (requests.hasWork()) {
                    return;
                }
            }
            if (!agent.stopped()) {
                worker.progress.sleep(0);
            }
        } finally {
            asleep = false;
        }
    }

    /**
     * After the thread has failed: fails its connections, and then ends the requests of its sessions as lost, so that
     * no posted operation takes effect, or writes to a buffer, after its request has ended.
     */
    private void loseAll() {
        boolean failed = false;
        while (!agent.stopped()) {
            try {
                if (!failed) {
                    worker.lifeCycle.loseAll();
                    failed = true;
                }
                for (HandoverConsumer requests : rings) {
                    requests.lose();
                }
            } catch (Throwable e) {
                // For example out of memory: try again, since no other thread ends these requests.
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** Ends the thread; requests that it has not finished are not called back. Its session stays open. */
    public void stop() {
        agent.stop(LockSupport::unpark, REMIND_MILLIS);
    }
}
