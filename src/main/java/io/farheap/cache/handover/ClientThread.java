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
 * Processes the requests of application threads (Redy, section 4.1): takes them from the rings of the sessions that it
 * serves, and issues them in a session of its own, with connections of its own.
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
    /** The same, in a form that is looked through without allocating. */
    private volatile HandoverConsumer[] rings = NONE;

    private volatile boolean copiesPrepared;
    private volatile boolean asleep;
    private volatile boolean dead;

    /**
     * @param worker its session, which it owns from its start on
     * @param core to keep to, or {@link ThreadAffinity#ANY}
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

    /** Whether it serves nobody any more. */
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

    /** Sessions are opened and closed at the same time: the array that is stored last has to be the latest. */
    public synchronized void add(HandoverConsumer requests) {
        served.add(requests);
        rings = served.toArray(NONE);
    }

    /** Nothing of it may be pending, or nobody waits for it any more. */
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
                            + " cannot go on: the requests of the sessions that it serves are lost; close them and open others",
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

    /** Nothing that it has posted may come to pass, or read into a buffer, after its requests have ended. */
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
                // Such as for want of memory: again, since nobody else ends them.
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** Ends the thread; what it had not finished is not called back. Its session stays open. */
    public void stop() {
        agent.stop(LockSupport::unpark, REMIND_MILLIS);
    }
}
