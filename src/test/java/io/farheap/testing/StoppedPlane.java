package io.farheap.testing;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * What a client sees of a memory server that is stopped when connections to it are to be ended: it does not destroy its
 * ends, and says so at once in the place of a deadline that passes.
 */
public final class StoppedPlane {

    private volatile Runnable asked;

    /** From now on it is, and each time that it is asked to destroy an end, something else is run. */
    public void stop(Runnable whenAsked) {
        asked = whenAsked;
    }

    /** A server that answers until {@link #stop}. */
    public ControlPlane before(ControlPlane server) {
        return (ControlPlane) Proxy.newProxyInstance(
                ControlPlane.class.getClassLoader(),
                new Class<?>[] {ControlPlane.class},
                (proxy, method, arguments) -> {
                    Runnable stopped = asked;
                    if (stopped != null && method.getName().equals("disconnect")) {
                        stopped.run();
                        throw new ControlException(ControlException.Code.UNAVAILABLE, "the server is stopped");
                    }
                    try {
                        return method.invoke(server, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
