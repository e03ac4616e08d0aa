package io.farheap.thread;

import io.farheap.thread.idle.Idle;
import java.util.function.Consumer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.AgentTerminationException;
import org.jspecify.annotations.Nullable;

/**
 * A duty cycle on a daemon thread of its own, an Agrona agent. What the cycle throws ends it. An interrupt, which who
 * is called by it may leave, does not: only {@link #stop} does.
 */
public final class AgentThread implements Agent {

    /** What the thread does, on the thread alone. */
    public interface DutyCycle {

        /** @return how much there was to do */
        int round();

        /** Returns when there may be something to do, or when the thread has been stopped. */
        void sleep();

        /** The thread ends before its time, or with an exception. */
        void died(Throwable cause);
    }

    private final String name;
    private final int core;
    private final DutyCycle duty;
    private final AgentRunner runner;
    private @Nullable Thread thread;
    private volatile boolean stopped;
    /** The thread's. */
    private boolean dead;

    /** @param core where it runs, or {@link ThreadAffinity#ANY} */
    public AgentThread(String name, Idle idle, int core, DutyCycle duty) {
        this.name = name;
        this.core = core;
        this.duty = duty;
        this.runner = new AgentRunner(idle.strategy(this::sleep), this::die, null, this);
    }

    /** Once, when all that the cycle uses is there. */
    public Thread start() {
        Thread started =
                AgentRunner.startOnThread(runner, Thread.ofPlatform().daemon().factory());
        thread = started;
        return started;
    }

    /** Whether it is to end. Any thread. */
    public boolean stopped() {
        return stopped;
    }

    /**
     * Ends the thread, and returns when it has ended. Not on the thread.
     *
     * @param wake makes the cycle's sleep return
     * @param remindMillis how often the thread is woken and interrupted until it has ended
     */
    public void stop(Consumer<Thread> wake, int remindMillis) {
        stopped = true;
        if (thread != null) {
            wake.accept(thread);
        }
        runner.close(remindMillis, wake);
    }

    @Override
    public String roleName() {
        return name;
    }

    @Override
    public void onStart() {
        ThreadAffinity.pin(core);
    }

    @Override
    public int doWork() {
        try {
            int done = duty.round();
            if (done == 0) {
                forgetInterrupt();
            }
            return done;
        } catch (Throwable e) {
            throw end(e);
        }
    }

    private void sleep() {
        try {
            duty.sleep();
        } catch (Throwable e) {
            throw end(e);
        } finally {
            // It may have worked on its way to sleep.
            forgetInterrupt();
        }
    }

    @Override
    public void onClose() {
        if (!stopped && !dead) {
            forgetInterrupt();
            die(new IllegalStateException("interrupted"));
        }
    }

    /** The agent would end by it. */
    private void forgetInterrupt() {
        if (!stopped) {
            Thread.interrupted();
        }
    }

    private AgentTerminationException end(Throwable cause) {
        die(cause);
        return new AgentTerminationException(true);
    }

    private void die(Throwable cause) {
        dead = true;
        duty.died(cause);
    }
}
