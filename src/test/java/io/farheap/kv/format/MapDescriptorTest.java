package io.farheap.kv.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class MapDescriptorTest {

    private static final int VERSION_AT = 8;
    private static final int ENGINE_AT = 12;

    private byte[] bytes = FakeMap.descriptor(3, 2, 1 << 20).of(1).encode();

    private String refusal() {
        return assertThrows(MapException.class, () -> MapDescriptor.decode(bytes, "space prices"))
                .getMessage();
    }

    @Test
    void whatIsEncodedIsDecoded() {
        MapDescriptor descriptor = FakeMap.descriptor(3, 2, 1 << 20).of(1);
        assertEquals(descriptor, MapDescriptor.decode(bytes, "space prices"));
    }

    @Test
    void anOlderAndANewerFormatAreRefusedWithTheRemedy() {
        for (int version : new int[] {MapDescriptor.VERSION - 1, MapDescriptor.VERSION + 1}) {
            ByteBuffer.wrap(bytes).putInt(VERSION_AT, version);
            String message = refusal();
            assertTrue(
                    message.startsWith("space prices is a map of format " + version + ", and this release has format "
                            + MapDescriptor.VERSION + ": "),
                    message);
            assertTrue(message.contains("kv drop --parts"), message);
        }
    }

    /** Format 7 had 8 bytes less before the policy's name. */
    @Test
    void aShorterDescriptorOfAnOlderFormatIsAMaps() {
        ByteBuffer.wrap(bytes).putInt(VERSION_AT, 7);
        bytes = Arrays.copyOf(bytes, 83);
        assertTrue(refusal().startsWith("space prices is a map of format 7, "), refusal());
    }

    @Test
    void aDescriptorThatIsCutOffIsRefused() {
        bytes = Arrays.copyOf(bytes, 83);
        assertTrue(refusal().startsWith("space prices has a descriptor of 83 bytes; "), refusal());
    }

    @Test
    void anUnknownEngineIsNamed() {
        ByteBuffer.wrap(bytes).putInt(ENGINE_AT, 7);
        assertTrue(refusal().startsWith("space prices is a map of engine 7, "), refusal());
    }

    @Test
    void anotherProgramsSpaceIsNoMap() {
        bytes[0]++;
        assertTrue(refusal().startsWith("space prices is no map: "), refusal());
    }
}
