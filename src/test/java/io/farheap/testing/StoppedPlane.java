package io.farheap.testing;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;

/**
 * A memory server as its client sees it if it is stopped before connections to it are ended: it does not destroy its
 * ends of them, and refuses at once, so that tests need not wait for a deadline.
 */
public final class StoppedPlane {

    private volatile Runnable asked;
    private volatile ControlException.Code code = ControlException.Code.UNAVAILABLE;

    /** Stops the server: {@code whenAsked} runs each time that a client asks it to destroy an end. */
    public void stop(Runnable whenAsked) {
        asked = whenAsked;
    }

    /** As {@link #stop(Runnable)}, for a server that refuses with another code. */
    public void stop(Runnable whenAsked, ControlException.Code refusal) {
        code = refusal;
        stop(whenAsked);
    }

    /** The server answers again. */
    public void resume() {
        asked = null;
    }

    /** A server that answers until {@link #stop}. */
    public ControlPlane before(ControlPlane server) {
        return PlaneProxy.around(server, (method, arguments, rest) -> {
            Runnable stopped = asked;
            if (stopped != null && method.equals("disconnect")) {
                stopped.run();
                throw new ControlException(code, "the server is stopped");
            }
            return rest.call();
        });
    }
}
