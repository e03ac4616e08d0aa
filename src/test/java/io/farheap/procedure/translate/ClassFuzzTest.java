package io.farheap.procedure.translate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.instruction.ProcedureCode;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.running.Stage;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.testing.Effort;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Class files that no compiler made: mutated or cut ones, with random instructions and constant pools. Each is refused
 * with a reason, or behaves as an admitted class may: it ends, and touches only its own memory. {@code -Dfarheap.seed}
 * repeats a run.
 */
@Timeout(1200)
class ClassFuzzTest {

    private static final List<String> BODIES = List.of(
            "long s = 0; for (long n = call.argument(0) & 16376; n != 0; n = call.getLong(n) & 16376) { s += call.getLong(n + 8); } call.result(0, s); return 1;",
            "int i = 0; double d = 1; while (i < 9) { d = d * i + call.getInt(i * 4L); call.putLong(i * 8L, (long) d); i++; if (d > 7) continue; call.scratch(i, i); } return (int) d;",
            "float f = call.argumentInt(4); for (int i = 0; i < 5; i++) { for (int j = 0; j < i; j++) { f += call.getByte(i + j * 4096) / (j + 1); } switch (i) { case 1: f = 2; case 2: f++; break; default: f--; } } return Math.round(f);",
            "call.copyToScratch(0, 8, 64); call.copyFromScratch(0, 4096, 32); call.scratch(0, 64); call.scratch(8, call.getLong(64)); boolean b = call.compareAndSetAll(0, 2) | call.compareAndSet(8, 1, 2); return (int) call.getAndAdd(16, b ? 1 : 2) % 7;");

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private int refused;
    private int ran;

    @Test
    void hostileClassFiles() {
        List<byte[]> corpus = new ArrayList<>();
        for (String body : BODIES) {
            corpus.add(
                    Compiled.members("static long twice(long x) { return x > 3 ? x * 2 : x; } static final int N = 5;"
                                    + "public static int run(Call call) {" + body + "}")
                            .bytes);
        }
        corpus.add(ProcedureCode.withManyLabels());
        long end = System.nanoTime() + Effort.fuzzSeconds() * 1_000_000_000L;
        try (Stage stage = new Stage()) {
            for (int i = 0; i < 500 || System.nanoTime() < end; i++) {
                byte[] bytes = mutated(corpus);
                try {
                    attempt(stage, bytes);
                } catch (Error | RuntimeException e) {
                    throw new AssertionError("case " + i + " of seed " + seed, e);
                }
                assertTrue(stage.guardsHold(), "bytes around the memory have changed; case " + i + " of seed " + seed);
            }
        }
        assertTrue(refused > 0 && ran > 0, refused + " refused, " + ran + " ran; seed " + seed);
        System.out.println(refused + " class files were refused, " + ran + " ran; seed " + seed);
    }

    private void attempt(Stage stage, byte[] bytes) {
        Translation translation;
        try {
            translation = Translator.translate(bytes, Translator.Limits.DEFAULT);
        } catch (RefusedProcedureException e) {
            refused++;
            return;
        }
        ran++;
        stage.fill(random);
        stage.fuel = 2000;
        stage.capacity = random.nextInt(4097);
        byte[] arguments = new byte[random.nextInt(64)];
        random.nextBytes(arguments);
        stage.arguments = MemorySegment.ofArray(arguments);
        Stage.Way[] ways = Stage.Way.values();
        Stage.Outcome outcome = stage.run(translation.code(), ways[random.nextInt(ways.length)]);
        assertTrue(outcome.status() <= CallStatus.NOT_ALIGNED, "status " + outcome.status());
    }

    private byte[] mutated(List<byte[]> corpus) {
        byte[] bytes = corpus.get(random.nextInt(corpus.size())).clone();
        int[] code = ProcedureCode.code(bytes);
        int kind = random.nextInt(8);
        if (kind == 0) {
            return java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        if (kind == 1) {
            for (int n = random.nextInt(8); n >= 0; n--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            return bytes;
        }
        for (int n = random.nextInt(kind == 2 ? 20 : 3); n >= 0; n--) {
            int at = code[0] + random.nextInt(code[1]);
            // An opcode, an operand such as a distance or a constant's index, or a byte from elsewhere in the code.
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] = (byte) random.nextInt(202);
                case 1 -> bytes[at] = (byte) (bytes[at] + random.nextInt(7) - 3);
                case 2 -> bytes[at] = bytes[code[0] + random.nextInt(code[1])];
                default -> bytes[at] = (byte) random.nextInt(32);
            }
        }
        return bytes;
    }
}
