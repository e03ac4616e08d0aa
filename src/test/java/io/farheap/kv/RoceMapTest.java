package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.ConnectedGids;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.SoftRoce;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.PortOptions;
import java.util.Set;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On Ethernet, a map's connections leave its port as its builder says, and servers follow. */
@Needs(Need.SOFTVERBS)
@ExtendWith(SoftRoce.class)
class RoceMapTest {

    private static final long REGION = 4 << 20;
    private static final int REGIONS = 4;

    private final ConnectedGids connected = new ConnectedGids();

    @ParameterizedTest
    @ValueSource(strings = {FarMapBuilder.DISAGGREGATED, FarMapBuilder.LEASED})
    void aMapUsesItsBuildersPort(String engine) {
        try (TestServers servers = new TestServers("roce", connected::noting)) {
            String[] one = servers.startAll(1, REGIONS, REGION);
            try (FarMap map = servers.named(one)
                            .engine(engine)
                            .objects(1000)
                            .memory(2 * REGION)
                            .device(PortOptions.of(TestDevice.client()).gid(SoftRoce.UNIQUE_LOCAL))
                            .create();
                    MapSession session = map.openSession()) {
                session.set(TestServers.key(1), TestServers.value(1, 100));
                assertArrayEquals(TestServers.value(1, 100), session.get(TestServers.key(1)));
            }
        }
        assertEquals(Set.of("fd00"), connected.all());
    }
}
