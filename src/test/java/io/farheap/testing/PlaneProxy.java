package io.farheap.testing;

import io.farheap.control.plane.ControlPlane;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** A memory server's control plane with something around its calls. */
public final class PlaneProxy {

    /** The rest of a call: the server's part. */
    public interface Rest {
        /** Returns the server's answer, or throws its exception. */
        Object call() throws Throwable;
    }

    /** A test's handling of a call, which may run the rest of the call, or not. */
    public interface Around {
        /** @param arguments null if the method has none */
        Object call(String method, Object[] arguments, Rest rest) throws Throwable;
    }

    private PlaneProxy() {}

    public static ControlPlane around(ControlPlane server, Around around) {
        return (ControlPlane) Proxy.newProxyInstance(
                ControlPlane.class.getClassLoader(),
                new Class<?>[] {ControlPlane.class},
                (proxy, method, arguments) -> around.call(method.getName(), arguments, () -> {
                    try {
                        return method.invoke(server, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
