package io.farheap.bench.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A backup file behind a bounded buffer: reads return the bytes written last, from the buffer or the file. */
class BackupFileTest {

    private static final int PAGES = 16;
    private static final int PART = 64;

    @TempDir
    Path directory;

    private BackupPlace place(boolean mayBeDirect) {
        BackupPlace place = BackupPlace.of(directory);
        return new BackupPlace(directory, place.direct() && mayBeDirect, place.blockBytes());
    }

    private static long offer(BackupFile backup, long address, byte[] bytes) {
        MemorySegment from = MemorySegment.ofArray(bytes);
        long number;
        do {
            number = backup.offer(address, from, bytes.length);
        } while (number == BackupFile.FULL);
        return number;
    }

    /** Pages that are whole blocks, and some that are not; one write under way at a time, and many. */
    @ParameterizedTest
    @CsvSource({"4096, true, 32", "4096, false, 32", "4224, true, 32", "4096, true, 1"})
    void whatWasWrittenLastIsReadFromTheBufferOrTheFile(int pageBytes, boolean mayBeDirect, int underWay)
            throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        byte[] shadow = new byte[PAGES * pageBytes];
        try (BackupFile backup = new BackupFile(place(mayBeDirect), pageBytes, underWay);
                Arena arena = Arena.ofShared()) {
            MemorySegment page = backup.page(arena);
            long last = BackupFile.FULL;
            for (int i = 0; i < 2000; i++) {
                int bytes = random.nextBoolean() ? pageBytes : PART;
                int address = random.nextInt(PAGES) * pageBytes + random.nextInt(pageBytes / bytes) * bytes;
                byte[] content = new byte[bytes];
                random.nextBytes(content);
                last = offer(backup, address, content);
                System.arraycopy(content, 0, shadow, address, bytes);
                if (i % 5 == 0) {
                    int other = random.nextInt(PAGES);
                    byte[] expected = Arrays.copyOfRange(shadow, other * pageBytes, (other + 1) * pageBytes);
                    if (!backup.readBuffered((long) other * pageBytes, page, pageBytes)) {
                        backup.read(other, page).get();
                    }
                    assertArrayEquals(expected, content(page, pageBytes), "page " + other + " after write " + i);
                }
            }
            while (!backup.has(last)) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < PAGES; i++) {
                backup.read(i, page).get();
                assertArrayEquals(
                        Arrays.copyOfRange(shadow, i * pageBytes, (i + 1) * pageBytes),
                        content(page, pageBytes),
                        "page " + i + " of the file");
            }
        }
    }

    private static byte[] content(MemorySegment page, int bytes) {
        byte[] content = new byte[bytes];
        MemorySegment.copy(page, 0, MemorySegment.ofArray(content), 0, bytes);
        return content;
    }

    @Test
    void itsFileHasNoNameThatCouldBeLeft() throws Exception {
        BackupPlace place = place(true);
        try (BackupFile backup = new BackupFile(place, 4096, BackupFile.UNDER_WAY)) {
            offer(backup, 0, new byte[4096]);
            assertEquals(0, directory.toFile().list().length);
        }
        assertEquals(0, directory.toFile().list().length);
    }

    @Test
    void aDirectoryThatIsNotThereIsRefused() {
        Path absent = directory.resolve("absent");
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> BackupPlace.of(absent));
        assertTrue(refused.getMessage().contains(absent.toString()), refused::getMessage);
    }
}
