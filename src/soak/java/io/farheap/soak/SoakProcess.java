package io.farheap.soak;

/** A process beside this one, which ends with it. */
public interface SoakProcess extends AutoCloseable {

    /** SIGKILL, also while it is stopped. */
    void kill();

    /** SIGSTOP: when this returns, nothing of it runs until it is resumed, killed or closed, or this process ends. */
    void suspend();

    /** SIGCONT, where it is stopped. */
    void resume();

    @Override
    void close();
}
