package io.farheap.thread;

import io.farheap.thread.idle.Idle;
import java.util.function.Consumer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.AgentTerminationException;
import org.jspecify.annotations.Nullable;

/**
 * A duty cycle on a daemon thread of its own, run as an Agrona agent. An exception of the cycle ends the thread. An
 * interrupt does not, even if code that the cycle calls leaves one pending: only {@link #stop} does.
 */
public final class AgentThread implements Agent {

    /** The work of the thread; called on it alone. */
    public interface DutyCycle {

        /** @return how much work was done, 0 if there was none */
        int round();

        /** Sleeps; returns when there may be work, or when the thread has been stopped. */
        void sleep();

        /** Called when the thread ends with an exception, or without having been stopped. */
        void died(Throwable cause);
    }

    private final String name;
    private final int core;
    private final DutyCycle duty;
    private final AgentRunner runner;
    private @Nullable Thread thread;
    private volatile boolean stopped;
    /** Used by the agent's thread alone. */
    private boolean dead;

    /** @param core the core to run on, or {@link ThreadAffinity#ANY} */
    public AgentThread(String name, Idle idle, int core, DutyCycle duty) {
        this.name = name;
        this.core = core;
        this.duty = duty;
        this.runner = new AgentRunner(idle.strategy(this::sleep), this::die, null, this);
    }

    /** Starts the thread. Call it once, when all objects that the cycle uses exist. */
    public Thread start() {
        Thread started =
                AgentRunner.startOnThread(runner, Thread.ofPlatform().daemon().factory());
        thread = started;
        return started;
    }

    /** Whether the thread has been stopped. Any thread may call it. */
    public boolean stopped() {
        return stopped;
    }

    /**
     * Stops the thread, and returns when it has ended. Any other thread may call it.
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
            // The cycle may have run other code on its way to sleep.
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

    /** Clears a pending interrupt, by which the agent runner would end. */
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
