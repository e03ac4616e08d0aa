package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.tier.FileDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A process that is killed at any moment loses no operation that it reported as durable, and leaves none in part.
 * {@code -Dfarheap.storeKills=N} kills it N times for each layout.
 */
@Needs(Need.HOST)
class StoreKillsTest {

    private static final int SIGKILLED = 128 + 9;
    private static final int MOST_LINES = 6;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final int kills = Effort.asked("farheap.storeKills", 1, 5);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatWasDurableSurvives(boolean general) throws Exception {
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        long[] durable = new long[StoreChild.SESSIONS];
        for (int kill = 0; kill < kills; kill++) {
            durable = life(random, general, durable);
            try (FileDevice device = StoreChild.device(directory);
                    FarStore store = StoreChild.how(device, directory, general).open()) {
                long[] there = new PrefixLoad(general, StoreChild.SESSIONS).verify(store);
                for (int i = 0; i < there.length; i++) {
                    assertTrue(there[i] >= durable[i], Arrays.toString(there) + " of " + Arrays.toString(durable));
                }
                durable = there;
            }
        }
    }

    /** @return the serial numbers that the process printed last; those of before if it printed none */
    private long[] life(SplittableRandom random, boolean general, long[] before) throws Exception {
        Path errors = directory.resolve("errors");
        Path said = directory.resolve("said");
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StoreChild.class.getName(),
                        directory.toString(),
                        Boolean.toString(general),
                        Long.toString(random.nextLong()))
                .redirectError(errors.toFile())
                .redirectOutput(said.toFile())
                .start();
        try {
            int wanted = random.nextInt(MOST_LINES);
            while (lines(said).size() < wanted) {
                assertTrue(child.isAlive(), () -> "the process has ended by itself: " + text(errors));
                Thread.sleep(1);
            }
            // The process is killed at any moment before the next line, or while it opens the store.
            Thread.sleep(random.nextInt(wanted == 0 ? 1_000 : 40));
        } finally {
            child.destroyForcibly();
        }
        assertEquals(SIGKILLED, child.waitFor(), () -> text(errors));
        List<String> lines = lines(said);
        return lines.isEmpty() ? before : serials(lines.getLast());
    }

    /** @return the complete lines of a file */
    private static List<String> lines(Path file) throws IOException {
        String text = Files.readString(file);
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static long[] serials(String line) {
        return Arrays.stream(line.trim().split(" ")).mapToLong(Long::parseLong).toArray();
    }
}
