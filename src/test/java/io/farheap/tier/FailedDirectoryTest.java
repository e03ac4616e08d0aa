package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.memory.SharedMemory;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A step in a log's directory that fails is taken again later, and leaves nothing that keeps the log from use. */
class FailedDirectoryTest {

    private static final int SEGMENT = 1 << 16;
    private static final FileOptions OPTIONS = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);

    private final RecordingStorage storage = new RecordingStorage();
    private final SharedMemory memory = SharedMemory.allocate("farheap-test-directory", SEGMENT);

    @AfterEach
    void free() {
        memory.close();
    }

    private FileDevice open() {
        return FileDevice.open(storage, SEGMENT, OPTIONS);
    }

    private int append(FileDevice device, int segment) {
        try (DeviceMemory registered = device.register(memory.segment());
                DeviceHandle handle = device.open()) {
            return new BlockingDeviceHandle(handle).append((long) segment * SEGMENT, registered, 0, SEGMENT);
        }
    }

    private List<String> segments() {
        return storage.list().stream()
                .filter(name -> name.startsWith("segment-"))
                .map(name -> name.substring(name.length() - 1))
                .toList();
    }

    @Test
    void aFileWhoseCreationFailedIsCreatedAgain() {
        try (FileDevice device = open()) {
            assertEquals(IoStatus.OK, append(device, 0));
            storage.fail(what -> what.startsWith("sync the directory"), 1);
            assertEquals(IoStatus.FAILED, append(device, 1));
            assertEquals(List.of("0"), segments());
            assertEquals(IoStatus.OK, append(device, 1));
        }
    }

    /** Neither the sync of the directory succeeds nor the deletion of the file that was created. */
    @Test
    void aFileThatIsLeftFromAFailedCreationIsReplaced() {
        try (FileDevice device = open()) {
            assertEquals(IoStatus.OK, append(device, 0));
            storage.fail(what -> !what.startsWith("create"), 2);
            assertEquals(IoStatus.FAILED, append(device, 1));
            assertEquals(List.of("0", "1"), segments());
            assertEquals(IoStatus.OK, append(device, 1));
        }
    }

    @Test
    void aFileThatCannotBeDeletedLeavesNoGap() {
        try (FileDevice device = open()) {
            for (int segment = 0; segment < 5; segment++) {
                assertEquals(IoStatus.OK, append(device, segment));
            }
            storage.fail(what -> what.startsWith("delete segment-0000000000000001"), 1);
            assertThrows(StorageException.class, () -> device.truncate(2 * SEGMENT));
            assertEquals(2 * SEGMENT, device.begin());
            storage.fail(what -> what.startsWith("delete segment-0000000000000001"), 1);
            assertThrows(StorageException.class, () -> device.truncate(4 * SEGMENT));
            assertEquals(List.of("1", "2", "3", "4"), segments());
        }
        try (FileDevice device = open()) {
            assertEquals(SEGMENT, device.begin());
            storage.fail(what -> what.startsWith("delete"), 1);
            assertThrows(StorageException.class, () -> device.truncate(3 * SEGMENT));
            assertEquals(IoStatus.OK, append(device, 5));
            device.truncate(3 * SEGMENT);
            assertEquals(List.of("3", "4", "5"), segments());
        }
    }

    /** The file is deleted, and the sync of the directory fails: the next call syncs it. */
    @Test
    void aDeletionWhoseSyncFailedIsSyncedLater() {
        try (FileDevice device = open()) {
            for (int segment = 0; segment < 3; segment++) {
                assertEquals(IoStatus.OK, append(device, segment));
            }
            storage.fail(what -> what.startsWith("sync the directory"), 1);
            assertThrows(StorageException.class, () -> device.truncate(2 * SEGMENT));
            assertEquals(List.of("1", "2"), segments());
            device.truncate(2 * SEGMENT);
            assertEquals(List.of("2"), segments());
            assertEquals(3 * SEGMENT, device.end());
        }
    }
}
