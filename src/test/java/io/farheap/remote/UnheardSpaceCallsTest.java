package io.farheap.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SpaceKey;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.SpacePlane;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** Calls about a space take effect, but the answers are lost: the client repeats them, and none takes effect twice. */
class UnheardSpaceCallsTest {

    private static final int REGIONS = 8;
    private static final long REGION = 64 << 10;
    private static final SpaceKey KEY = SpaceKey.of("unheard", "0123456789");

    private final MemoryServer memory = MemoryServer.open(new ServerOptions(
            REGIONS * REGION, REGION, TestDevice.patience(30_000_000_000L), TestDevice.server(), "test"));
    private int unheard;
    private int lose = 1;

    private Object space(Object proxy, Method method, Object[] arguments) throws Throwable {
        Object answer = invoke(Planes.of(memory).spaces(), method, arguments);
        if (unheard++ < lose) {
            throw new ControlException(Code.UNAVAILABLE, "the connection is broken");
        }
        unheard = 0;
        return answer;
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private int free() {
        return memory.description().freeRegions();
    }

    @Test
    void callsOfWhichNothingIsHeardAreRepeated() {
        SpacePlane spaces = proxy(SpacePlane.class, this::space);
        ControlPlane plane = proxy(
                ControlPlane.class,
                (ignored, method, arguments) ->
                        method.getName().equals("spaces") ? spaces : invoke(Planes.of(memory), method, arguments));
        try (memory;
                ControlServer control = ControlServer.start("127.0.0.1:0", plane);
                RemoteMemory client = RemoteMemory.open(TestDevice.client(), "unheard")) {
            RemoteServer server = client.attach(control.address());
            RemoteSpace space = client.createSpace(server, KEY, 2, 3_600_000, new byte[0]);
            assertEquals(2, space.regions().size());
            assertEquals(2, space.grow(2).size());
            assertEquals(4, space.regions().size());
            assertEquals(REGIONS - 4, free());
            space.extend(SpacePlane.FOR_EVER);
            space.close();
            assertEquals(4, client.openSpace(server, KEY).regions().size());
            lose = 2;
            client.dropSpace(server, KEY);
            assertEquals(
                    0,
                    Planes.of(memory)
                            .spaces()
                            .list(Planes.of(memory).openLease("looks").id())
                            .size());

            lose = 3;
            unheard = 0;
            ControlException e = assertThrows(
                    ControlException.class, () -> client.createSpace(server, KEY, 1, 1_000_000, new byte[0]));
            assertEquals(Code.UNAVAILABLE, e.code());
            // The space was created nevertheless: a client with its key can open or drop it.
            lose = 0;
            unheard = 0;
            assertEquals(1, client.openSpace(server, KEY).regions().size());
        }
    }
}
