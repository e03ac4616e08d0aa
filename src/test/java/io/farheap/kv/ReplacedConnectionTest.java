package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.session.EngineSession;
import io.farheap.testing.Fields;
import io.farheap.testing.Wait;
import io.farheap.verbs.VerbsException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Sessions that are opened while a map is opened again under other leases. */
class ReplacedConnectionTest {

    private static final EngineSession SESSION = (EngineSession) Proxy.newProxyInstance(
            EngineSession.class.getClassLoader(), new Class<?>[] {EngineSession.class}, (proxy, method, arguments) -> {
                throw new AssertionError("nothing uses it");
            });

    /** Opens a session of a connection. */
    private interface SessionWay {
        EngineSession open();
    }

    private static EngineConnection connection(SessionWay way) {
        return (EngineConnection) Proxy.newProxyInstance(
                EngineConnection.class.getClassLoader(),
                new Class<?>[] {EngineConnection.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "session" -> way.open();
                    case "name" -> "map";
                    case "experts", "drops" -> List.of();
                    case "hasLostLease", "isUnused" -> false;
                    default -> null;
                });
    }

    private static FarMap map(EngineConnection first) {
        return new FarMap(sessions -> first, new AtomicReference<>(() -> {}), addresses -> {
            throw new AssertionError("no lease is lost");
        });
    }

    /** The memory of the old connection is closed as soon as no session uses it. */
    @Test
    void aSessionIsOfTheConnectionThatIsUsedWhenItIsOpen() {
        AtomicInteger opened = new AtomicInteger();
        AtomicReference<FarMap> map = new AtomicReference<>();
        EngineConnection second = connection(() -> {
            opened.incrementAndGet();
            return SESSION;
        });
        EngineConnection first = connection(() -> {
            use(map.get(), second);
            throw new IllegalStateException("this remote memory is closed");
        });
        map.set(map(first));
        MapSession session = map.get().openSession();
        assertEquals(1, opened.get());
        assertSame(SESSION, Fields.get(session, "requests", EngineSession.class));
        map.get().close();
    }

    /** The leases are lost again, and what fails is the device: the queues of the old connection are gone. */
    @Test
    void aSessionIsOfTheLastOfSeveralConnections() {
        AtomicReference<FarMap> map = new AtomicReference<>();
        EngineConnection third = connection(() -> SESSION);
        EngineConnection second = connection(() -> {
            use(map.get(), third);
            throw new VerbsException("no queue pair");
        });
        EngineConnection first = connection(() -> {
            use(map.get(), second);
            throw new ControlException(ControlException.Code.UNAVAILABLE, "a server does not answer");
        });
        map.set(map(first));
        MapSession session = map.get().openSession();
        assertSame(SESSION, Fields.get(session, "requests", EngineSession.class));
        map.get().close();
    }

    @Test
    void aConnectionThatIsStillUsedSaysWhyThereIsNoSession() {
        FarMap map = map(connection(() -> {
            throw new MapException("a server does not answer");
        }));
        assertThrows(MapException.class, map::openSession);
        map.close();
    }

    private static EngineConnection lost(List<String> calls, String name, AtomicBoolean isLost) {
        return (EngineConnection) Proxy.newProxyInstance(
                EngineConnection.class.getClassLoader(),
                new Class<?>[] {EngineConnection.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "start", "end", "succeeds", "isAlone", "close" -> {
                            calls.add(name + " " + method.getName());
                            if (calls.getLast().equals("failing start")) {
                                throw new IllegalStateException("no thread");
                            }
                        }
                        default -> {}
                    }
                    return switch (method.getName()) {
                        case "name" -> name;
                        case "experts", "drops", "servers", "addresses" -> List.of();
                        case "hasLostLease" -> name.equals("first") && isLost.get();
                        case "isOfMapOf" -> true;
                        case "isUnused" -> false;
                        default -> null;
                    };
                });
    }

    /**
     * A connection that cannot begin is closed and not used. The one that takes the place of another one keeps nothing
     * for a time until nothing of the other one can be executed any more.
     */
    @Test
    void aConnectionIsUsedOnceItHasBegunAndIsAloneOnceTheOtherHasEnded() {
        List<String> calls = new CopyOnWriteArrayList<>();
        AtomicBoolean isLost = new AtomicBoolean();
        AtomicInteger opened = new AtomicInteger();
        AtomicReference<Runnable> look = new AtomicReference<>(() -> {});
        FarMap map = new FarMap(
                sessions -> lost(calls, "first", isLost),
                look,
                addresses -> sessions -> lost(calls, opened.incrementAndGet() == 1 ? "failing" : "second", isLost));
        isLost.set(true);
        Objects.requireNonNull(look.get()).run();
        Wait.until(() -> calls.contains("second isAlone"), 20_000_000_000L, "the map is not opened again");
        map.close();
        assertEquals(
                List.of(
                        "first start",
                        "failing succeeds",
                        "failing start",
                        "failing close",
                        "second succeeds",
                        "second start",
                        "first end",
                        "second isAlone",
                        "second close",
                        "first close"),
                calls);
    }

    /** The map is opened again while it drains a server that is lost: the drain may have been recorded already. */
    @Test
    void aConnectionOverWhichTheMapsMemoryChangesEndsBehindTheChange() {
        List<String> calls = new CopyOnWriteArrayList<>();
        AtomicBoolean isLost = new AtomicBoolean();
        AtomicReference<Runnable> look = new AtomicReference<>(() -> {});
        FarMap map = new FarMap(
                sessions -> lost(calls, "first", isLost), look, addresses -> sessions -> lost(calls, "second", isLost));
        isLost.set(true);
        synchronized (Fields.get(map, "memoryChange", Object.class)) {
            Objects.requireNonNull(look.get()).run();
            Thread reopens = Fields.get(Fields.get(map, "reopener", MapReopener.class), "thread", Thread.class);
            Wait.until(
                    () -> calls.contains("second start") && reopens.getState() == Thread.State.BLOCKED
                            || calls.contains("first end"),
                    20_000_000_000L,
                    "the map is not opened again");
            assertEquals(List.of("first start", "second succeeds", "second start"), calls);
        }
        Wait.until(() -> calls.contains("second isAlone"), 20_000_000_000L, "the map is not opened again");
        map.close();
    }

    private static void use(FarMap map, EngineConnection connection) {
        try {
            Fields.field(map, "now").set(map, connection);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
