package io.farheap.slo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.measure.Measurement;
import io.farheap.measure.ModelMeasurer;
import io.farheap.testing.Effort;
import io.farheap.testing.LockProbe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFileTest {

    private static final ModelSubject SUBJECT =
            new ModelSubject("sim0 (simulated)", "a processor, a card", 1, 1024, 50, 2, 8);
    /** The short form changes one byte of five, and begins with another byte each time. */
    private static final int STEP = Effort.either(5, 1);

    private static final int FIRST = Math.floorMod(System.nanoTime(), STEP);
    private static final Measurement SYSTEM = new SimulatedSystem(SUBJECT, 0.05, 7);

    @TempDir
    private Path directory;

    private Path file;
    private byte[] whole;

    @BeforeEach
    void measure() throws IOException, InterruptedException {
        file = directory.resolve("a.model");
        ModelMeasurer.measure(file, SUBJECT, SYSTEM, (measured, leftOut, atMost) -> {});
        whole = Files.readAllBytes(file);
    }

    private String refusal(ModelSubject subject) {
        byte[] before = bytes();
        String message = assertThrows(ModelFileException.class, () -> ModelFile.load(file, subject))
                .getMessage();
        assertEquals(
                message,
                assertThrows(ModelFileException.class, () -> ModelFile.open(file, subject))
                        .getMessage());
        assertArrayEquals(before, bytes(), "a file that was refused has changed");
        return message;
    }

    private byte[] bytes() {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatIsLoadedIsWhatWasMeasured() throws IOException, InterruptedException {
        PerformanceModel measured = Models.measured(SUBJECT, SYSTEM).model();
        PerformanceModel loaded = ModelFile.load(file, SUBJECT);
        assertEquals(measured.space(), loaded.space());
        assertEquals(SUBJECT, ModelFile.load(file).subject());
        for (int c = 1; c <= 2; c++) {
            for (int s = 0; s <= c; s++) {
                for (int q = measured.space().minDepth(); q <= 8; q++) {
                    Configuration configuration = new Configuration(c, s, s == 0 ? 1 : 3, q);
                    assertEquals(measured.predict(configuration), loaded.predict(configuration));
                }
            }
        }
        assertTrue(new String(whole, StandardCharsets.UTF_8)
                .startsWith("farheap performance model, version 5\ndevice sim0 (simulated) #"));
    }

    @Test
    void anotherSubjectIsRefused() {
        String device = refusal(new ModelSubject("mlx5_0", SUBJECT.hardware(), 1, 1024, 50, 2, 8));
        assertEquals(
                file
                        + " was measured with device \"sim0 (simulated)\", and the model is wanted for \"mlx5_0\"; measure one for this into another file",
                device);
        assertTrue(refusal(new ModelSubject(SUBJECT.device(), "another", 1, 1024, 50, 2, 8))
                .contains("hardware"));
        assertTrue(refusal(new ModelSubject(SUBJECT.device(), SUBJECT.hardware(), 3, 1024, 50, 2, 8))
                .contains("switches"));
        assertTrue(refusal(new ModelSubject(SUBJECT.device(), SUBJECT.hardware(), 1, 512, 50, 2, 8))
                .contains("record-bytes"));
        assertTrue(refusal(new ModelSubject(SUBJECT.device(), SUBJECT.hardware(), 1, 1024, 90, 2, 8))
                .contains("read-percent"));
        assertTrue(refusal(new ModelSubject(SUBJECT.device(), SUBJECT.hardware(), 1, 1024, 50, 4, 8))
                .contains("client-cores"));
        assertTrue(refusal(new ModelSubject(SUBJECT.device(), SUBJECT.hardware(), 1, 1024, 50, 2, 16))
                .contains("device-depth"));
        assertTrue(refusal(SUBJECT.coded("ec-only 2+1 Δ=1, pages of 4096 bytes"))
                .contains("was measured with resilience \"none\", and the model is wanted for \"ec-only 2+1 Δ=1, "));
    }

    /** Servers execute nothing there, so no configuration with server threads or batches is measured or found. */
    @Test
    void aModelOfCodedCachesIsOfClientThreadsAndDepthsAlone() throws IOException, InterruptedException {
        ModelSubject coded = SUBJECT.coded("ec-only 2+1 Δ=1, pages of 4096 bytes");
        assertEquals(coded, coded.over(3).over(1));
        Path other = directory.resolve("coded.model");
        SimulatedSystem system = new SimulatedSystem(SUBJECT, 0, 7);
        ModelMeasurer.measure(
                other,
                coded,
                how -> {
                    assertEquals(0, how.serverThreads());
                    assertEquals(1, how.batchSize());
                    return system.measure(how);
                },
                (measured, leftOut, atMost) -> {});
        PerformanceModel loaded = ModelFile.load(other);
        assertEquals(coded, loaded.subject());
        assertEquals(2L * (8 - loaded.space().minDepth() + 1), loaded.space().size());
        for (Search search : List.of(new ExactSearch(), new ExhaustiveSearch(), new PrunedTraversal())) {
            Slo least = new Slo(new Objective(Double.POSITIVE_INFINITY, 1), Objective.NONE);
            assertEquals(
                    new Configuration(1, 0, 1, loaded.space().minDepth()),
                    search.find(loaded, least).found());
            Slo tooMuch = new Slo(new Objective(1, 1e12), Objective.NONE);
            assertFalse(search.find(loaded, tooMuch).feasible());
        }
        assertEquals(
                1,
                Explanation.of(loaded, new Slo(Objective.NONE, Objective.NONE))
                        .candidates()
                        .size());
        assertThrows(IllegalArgumentException.class, () -> SUBJECT.coded(" "));
    }

    @Test
    void aFileOfWhicheverSubjectIsLoadedOnlyWhole() throws IOException {
        for (int length = FIRST; length < whole.length; length += STEP) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThrows(ModelFileException.class, () -> ModelFile.load(file), length + " bytes");
        }
        String header = ModelFormat.header(SUBJECT, new ModelFormat.ModelChecksum());
        for (String changed : new String[] {
            header.replace("switches 1 ", "switches -1 "),
            header.replace("switches 1 ", "switches one "),
            header.replace("read-percent 50 ", "read-percent 500 "),
            header.replace(" #", ""),
            header.replace("hardware", "h")
        }) {
            Files.writeString(file, changed + "complete 0\n");
            String message = assertThrows(ModelFileException.class, () -> ModelFile.load(file))
                    .getMessage();
            assertTrue(message.contains("is damaged in "), message);
        }
    }

    @Test
    void anotherVersionIsRefused() throws IOException {
        Files.writeString(file, new String(whole, StandardCharsets.UTF_8).replace("version 5", "version 4"));
        assertTrue(refusal(SUBJECT).contains("format version 4, and this Farheap reads version 5"));
        assertTrue(assertThrows(ModelFileException.class, () -> ModelFile.load(file))
                .getMessage()
                .contains("format version 4"));
        Files.writeString(file, "{\"a\": 1}\n".repeat(20));
        assertTrue(refusal(SUBJECT).contains("is not a performance model"));
    }

    @Test
    void everyChangedByteIsNoticed() {
        // Without the last end of line, the last line is one whose writing was interrupted.
        for (int i = FIRST; i < whole.length - 1; i += STEP) {
            byte[] changed = whole.clone();
            changed[i] ^= (byte) (1 << i % 8);
            assertThrows(ModelFileException.class, () -> new ModelReader(file.toString(), changed, SUBJECT));
            assertThrows(ModelFileException.class, () -> new ModelReader(file.toString(), changed));
        }
    }

    @Test
    void lostMovedAndAddedLinesAreNoticed() throws IOException {
        String[] lines = new String(whole, StandardCharsets.UTF_8).split("\n");
        for (int lost = 0; lost < lines.length - 1; lost++) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < lines.length; i++) {
                text.append(i == lost ? "" : lines[i] + "\n");
            }
            Files.writeString(file, text);
            refusal(SUBJECT);
        }
        Files.writeString(file, new String(whole, StandardCharsets.UTF_8) + lines[lines.length - 2] + "\n");
        refusal(SUBJECT);
    }

    /** A file with right checksums may still be wrong: another program may have written it. */
    @Test
    void aWellSealedFileThatNoPlanMakesIsRefused() throws IOException {
        for (String line : new String[] {
            "c2 s0 b1 q1 reads 1.0 ns 1.0 /s writes 1.0 ns 1.0 /s within 0.0",
            "c1 s0 b1 q1 reads NaN ns 1.0 /s writes 1.0 ns 1.0 /s within 0.0",
            "c1 s0 b1 q1 reads 1.0 ns 1.0 /s writes 0.0 ns 0.0 /s within 0.0",
            "c1 s0 b1 q1 reads -1.0 ns 1.0 /s writes 1.0 ns 1.0 /s within 0.0",
            "c1 s0 b1 q1 reads 1.0 ns 1.0 /s writes 1.0 ns 1.0 /s within -0.1",
            "c1 s0 b1 q1 reads 1.0 ns 1.0 /s writes 1.0 ns 1.0 /s",
            "complete 0",
            "",
            "nothing"
        }) {
            ModelFormat.ModelChecksum checksum = new ModelFormat.ModelChecksum();
            Files.writeString(file, ModelFormat.header(SUBJECT, checksum) + checksum.seal(line));
            assertTrue(refusal(SUBJECT).contains("is damaged in line 10"));
        }
        Files.write(file, new byte[ModelReader.MAX_BYTES + 1]);
        assertTrue(refusal(SUBJECT).contains("models have at most"));
    }

    /** Wherever the file was cut, measuring continues after its last whole line and ends with the same file. */
    @Test
    void anInterruptedFileResumes() throws IOException, InterruptedException {
        int total = Models.measured(SUBJECT, SYSTEM).measured();
        for (int length = 0; length < whole.length; length += STEP * (1 + length % 149)) {
            Files.write(file, Arrays.copyOf(whole, length));
            String message = assertThrows(ModelFileException.class, () -> ModelFile.load(file, SUBJECT))
                    .getMessage();
            assertTrue(message.contains("is not complete"), message);
            AtomicInteger first = new AtomicInteger(-1);
            AtomicInteger calls = new AtomicInteger();
            ModelMeasurer.measure(
                    file,
                    SUBJECT,
                    configuration -> {
                        calls.incrementAndGet();
                        return SYSTEM.measure(configuration);
                    },
                    (measured, leftOut, atMost) -> first.compareAndSet(-1, measured));
            assertEquals(total, first.get() + calls.get());
            assertArrayEquals(whole, bytes());
        }
    }

    /** Whether a line of the grid ends depends on how certain its figures are, so a file keeps that. */
    @Test
    void aRunThatContinuesKnowsHowCertainEarlierFiguresAre() throws IOException, InterruptedException {
        ModelSubject large = new ModelSubject("sim0 (simulated)", "a processor, a card", 1, 512, 50, 3, 8);
        Measurement flat = how -> new Performance(
                1_000.0 * how.queueDepth() * how.clientThreads(),
                1e6,
                1_000.0 * how.queueDepth() * how.clientThreads(),
                1e6,
                how.batchSize() == 1 ? Double.POSITIVE_INFINITY : 0.25);
        Path unsure = directory.resolve("unsure.model");
        ModelMeasurer.measure(unsure, large, flat, (measured, leftOut, atMost) -> {});
        byte[] once = Files.readAllBytes(unsure);
        Files.write(unsure, Arrays.copyOf(once, once.length / 2));
        ModelMeasurer.measure(unsure, large, flat, (measured, leftOut, atMost) -> {});
        assertArrayEquals(once, Files.readAllBytes(unsure));
        assertEquals(
                Double.POSITIVE_INFINITY,
                ModelFile.load(unsure).basis(new Configuration(1, 0, 1, 1)).uncertainty());
    }

    @Test
    void whatWasMeasuredBeforeAFailureIsKept() throws IOException, InterruptedException {
        Files.delete(file);
        AtomicInteger calls = new AtomicInteger();
        assertThrows(
                InterruptedException.class,
                () -> ModelMeasurer.measure(
                        file,
                        SUBJECT,
                        configuration -> {
                            if (calls.incrementAndGet() > 5) {
                                throw new InterruptedException();
                            }
                            return SYSTEM.measure(configuration);
                        },
                        (measured, leftOut, atMost) -> {}));
        try (ModelFile model = ModelFile.open(file, SUBJECT)) {
            assertEquals(5, model.plan().measured());
        }
    }

    @Test
    void twoDoNotMeasureIntoOneFile() throws IOException, InterruptedException {
        try (ModelFile model = ModelFile.open(file, SUBJECT)) {
            assertTrue(model.plan().complete());
            String message = assertThrows(ModelFileException.class, () -> ModelFile.open(file, SUBJECT))
                    .getMessage();
            assertTrue(message.contains("is being measured into already"), message);
            // The open that failed and the load have closed other descriptors of the file: the lock is still held.
            assertTrue(ModelFile.load(file).space().size() > 0);
            assertFalse(LockProbe.isFree(file), "another process could measure into it");
        }
    }

    @Test
    void subjectsAreOneLine() {
        assertThrows(IllegalArgumentException.class, () -> new ModelSubject("a\nb", "none", 0, 8, 50, 2, 8));
        assertThrows(IllegalArgumentException.class, () -> new ModelSubject("", "none", 0, 8, 50, 2, 8));
        assertThrows(IllegalArgumentException.class, () -> new ModelSubject("a", "none", 0, 8, 101, 2, 8));
        assertThrows(IllegalArgumentException.class, () -> new ModelSubject("a", "none", 0, 8, 50, 0, 8));
    }
}
