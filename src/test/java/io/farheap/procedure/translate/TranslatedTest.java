package io.farheap.procedure.translate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.instruction.PureMethod;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.running.Stage;
import io.farheap.procedure.translate.running.TranslatedCode;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.testing.Effort;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Translated code does what plain Java does, bit by bit, however it is interrupted. */
class TranslatedTest {

    private final Stage stage = new Stage();

    @AfterEach
    void close() {
        assertTrue(stage.guardsHold(), "bytes around the memory have changed");
        stage.close();
    }

    private Stage.Outcome same(Compiled compiled, long... arguments) {
        return stage.same(compiled, arguments);
    }

    private void put(long address, long value) {
        stage.put(address, value);
    }

    @Test
    void aListIsSummed() {
        for (int i = 0; i < 20; i++) {
            long node = 24 + i * 808 % 16_000 / 8 * 8;
            put(node, i == 19 ? 0 : 24 + (i + 1) * 808 % 16_000 / 8 * 8);
            put(node + 8, i);
            put(node + 16, 100 + i);
        }
        Stage.Outcome outcome = same(Compiled.body("""

                        long day = call.argument(8);
                        long sum = 0;
                        for (long node = call.argument(0); node != 0; node = call.getLong(node)) {
                            if (call.getLong(node + 8) >= day) {
                                sum += call.getLong(node + 16);
                            }
                        }
                        call.result(0, sum);
                        return 7;
                        """), 24, 15);
        assertEquals(7, outcome.code());
        assertEquals(115 + 116 + 117 + 118 + 119, outcome.result().get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
    }

    @Test
    void operandsThatAreBelowAnAccessAreKept() {
        stage.fill(new Random(3));
        same(Compiled.body("""
                        float f = call.argumentInt(0) * 1.5f;
                        double d = call.argument(8) / 7.0;
                        int i = call.argumentByte(3);
                        long sum = 0;
                        for (int turn = 0; turn < 5; turn++) {
                            long at = turn * 4096L;
                            sum += i * (call.getLong(at) + (long) (f * (call.getInt(at + 9) + d * call.getShort(at + 1))))
                                    ^ call.getByte(at + i % 16 + 20 - call.getInt(at + 40) % 5);
                            i++;
                            f += 0.25f;
                            d -= turn;
                            if (turn == 3) { turn++; }
                        }
                        call.result(0, sum);
                        call.result(8, Double.doubleToRawLongBits(d + f));
                        return i;
                        """), 0x0102030405060708L, -12345678901L);
    }

    @Test
    void storesOfEachLength() {
        stage.fill(new Random(4));
        same(Compiled.body("""
                        for (long at = 0; at < 4 * 4096; at += 1024) {
                            call.putByte(at + 1, (byte) (at / 3));
                            call.putShort(at + 3, (short) (at * 77));
                            call.putInt(at + 7, (int) (at * 1234567));
                            call.putLong(at + 13, at * 1234567890123L);
                            call.putLong(at + 1016, call.getLong(at + 7) + call.getByte(at + 1023));
                        }
                        return 0;
                        """));
    }

    @Test
    void atomics() {
        stage.fill(new Random(5));
        put(4096, 40);
        put(8192, 9);
        Stage.Outcome outcome = same(Compiled.body("""
                        int set = 0;
                        for (int i = 0; i < 3; i++) {
                            set = set * 2 + (call.compareAndSet(4096, 40 + i, 41 + i) ? 1 : 0);
                            set = set * 2 + (call.compareAndSet(4096, 40, 50) ? 1 : 0);
                        }
                        long was = call.getAndAdd(4096, 1000) + call.getAndAdd(8192, -10);
                        for (int i = 0; i < 8; i++) {
                            call.scratch(i * 24 + 5, 12288 + i * 64);
                            call.scratch(i * 24 + 13, call.getLong(12288 + i * 64));
                            call.scratch(i * 24 + 21, i * 1111);
                        }
                        set = set * 2 + (call.compareAndSetAll(5, 8) ? 1 : 0);
                        set = set * 2 + (call.compareAndSetAll(5, 8) ? 1 : 0);
                        set = set * 2 + (call.compareAndSetAll(5, 0) ? 1 : 0);
                        call.result(0, was);
                        return set;
                        """));
        assertEquals(0b101010101, outcome.code());
    }

    @Test
    void copies() {
        stage.fill(new Random(6));
        same(Compiled.body("""
                        call.copyToScratch(4000, 16, 96);
                        call.copyToScratch(12288, 200, 1000);
                        call.copyToScratch(-5, 0, 0);
                        call.scratchInt(20, call.scratchInt(300) + call.scratchByte(17));
                        call.scratchByte(24, (byte) 99);
                        call.copyFromScratch(10, 8192 + 11, 77);
                        call.resultFromScratch(16, 3, 500);
                        call.resultFromScratch(16, 3, 0);
                        call.resultInt(600, call.resultCapacity());
                        call.resultByte(604, (byte) call.argumentBytes());
                        return (int) call.scratch(40);
                        """), 1, 2);
    }

    @Test
    void ownMethodsAreInlined() {
        stage.fill(new Random(7));
        same(Compiled.members("""
                        static final int SHIFT = 3;
                        private P() {}
                        static boolean odd(long value) { return (value & 1) != 0; }
                        static byte low(long value) { return (byte) value; }
                        static char wide(int value) { return (char) value; }
                        static short half(long value) { if (value > 5) { return (short) value; } return (short) (value * 3); }
                        static long next(Call call, long node) { return call.getLong(node & 0x3ff8) & 0x3ff8; }
                        static void store(Call call, int at, double value) {
                            for (int i = 0; i < 2; i++) { call.result(at + 8 * i, Double.doubleToLongBits(value * i)); }
                        }
                        static double mix(Call call, long node, float f, int depth) {
                            double sum = 0;
                            while (depth-- > 0) {
                                node = next(call, next(call, node));
                                sum += odd(node >> SHIFT) ? low(node) : wide((int) node) * f;
                            }
                            return sum + half(node);
                        }
                        public static int run(Call call) {
                            double all = 0;
                            for (int i = 0; i < 4; i++) { all += mix(call, 8 * i, i * 0.5f, 5) - mix(call, 80 * i, 2, i); }
                            store(call, 8, all);
                            return odd((long) all) ? 1 : 2;
                        }
                        """));
    }

    @Test
    void endsWithStatusAndLine() {
        Object[][] bodies = {
            {"\n\ncall.putLong(0, 5); return (int) call.getLong(16384);", CallStatus.OUT_OF_RANGE, 3, 16384L},
            {"return (int) call.getLong(-1);", CallStatus.OUT_OF_RANGE, 1, -1L},
            {"return (int) call.getLong(16377);", CallStatus.OUT_OF_RANGE, 1, 16377L},
            {"return call.getInt(4093);", CallStatus.SPLIT, 1, 4093L},
            {"\ncall.putShort(8191, (short) 1); return 1;", CallStatus.SPLIT, 2, 8191L},
            {"return (int) call.getAndAdd(12, 1);", CallStatus.NOT_ALIGNED, 1, 12L},
            {"return call.compareAndSet(7, 0, 1) ? 1 : 0;", CallStatus.NOT_ALIGNED, 1, 7L},
            {"call.copyToScratch(4000, 0, 97); return 0;", CallStatus.SPLIT, 1, 4000L},
            {"call.copyToScratch(4000, 4000, 97); return 0;", CallStatus.OUT_OF_RANGE, 1, 4000L},
            {"call.copyFromScratch(5, 0, -1); return 0;", CallStatus.OUT_OF_RANGE, 1, 5L},
            {"return (int) call.argument(9);", CallStatus.OUT_OF_RANGE, 1, 9L},
            {"return (int) call.argument(-1);", CallStatus.OUT_OF_RANGE, 1, -1L},
            {"return (int) call.scratch(4089);", CallStatus.OUT_OF_RANGE, 1, 4089L},
            {"call.scratchInt(Integer.MAX_VALUE, 3); return 0;", CallStatus.OUT_OF_RANGE, 1, 2147483647L},
            {"call.result(0, 1); call.result(4089, 1); return 0;", CallStatus.RESULT_FULL, 1, 4089L},
            {"call.resultFromScratch(0, 4000, 97); return 0;", CallStatus.RESULT_FULL, 1, 4000L},
            {"call.resultFromScratch(4000, 0, 97); return 0;", CallStatus.OUT_OF_RANGE, 1, 4000L},
            {"return call.compareAndSetAll(0, 9) ? 1 : 0;", CallStatus.OUT_OF_RANGE, 1, 0L},
            {"call.scratch(24, 4096); return call.compareAndSetAll(0, 2) ? 1 : 0;", CallStatus.SPLIT, 1, 4096L},
            {"\nint z = call.argumentInt(0);\nreturn 5 / z;", CallStatus.FAULT, 3, 0L},
            {"long z = call.argument(0); return (int) (5 % z);", CallStatus.FAULT, 1, 0L},
            {"return Math.floorMod(5, call.argumentInt(0));", CallStatus.FAULT, 1, 0L},
            {"return (int) Long.divideUnsigned(5L, call.argument(0));", CallStatus.FAULT, 1, 0L},
        };
        for (Object[] row : bodies) {
            Compiled compiled = Compiled.body((String) row[0]);
            Stage.Outcome outcome = same(compiled, 0, 0);
            assertEquals(row[1], outcome.status(), (String) row[0]);
            assertEquals(row[3], outcome.address(), (String) row[0]);
            for (Stage.Way way : Stage.Way.values()) {
                assertEquals(
                        row[2], stage.run(compiled.translated().code(), way).line(), way + " " + row[0]);
            }
        }
    }

    @Test
    void theFootprintBoundsAccesses() {
        stage.fill(new Random(8));
        stage.from = 4100;
        stage.span = 5000;
        Compiled compiled = Compiled.body("return call.getInt(call.argument(0));");
        for (long address : new long[] {4099, 4100, 4101, 9095, 9096, 9097, 9099, 9100, 0, -1, Long.MIN_VALUE}) {
            boolean inside = address >= 4100 && address <= 9096;
            assertEquals(
                    inside ? CallStatus.DONE : CallStatus.OUT_OF_RANGE,
                    same(compiled, address).status(),
                    () -> "address " + address);
        }
        stage.from = -5;
        assertEquals(
                CallStatus.OUT_OF_RANGE,
                stage.run(compiled.translated().code(), Stage.Way.AT_ONCE).status());
    }

    /** A loop's turns, counted in advance, are those that plain Java makes, also if a number wraps or is cut to int. */
    @Test
    void turnsNearTheEdgesOfIntsAndLongs() {
        stage.fill(new Random(10));
        String[] bodies = {
            // A long that the loop does not change, cut to an int: as a bound, as a step, in an address.
            "for (int i = 0; i < (int) n; i++) { sum += i + call.getLong(FIRST + 8L * i); }",
            "for (int i = 0; i < (int) n; i++) { call.putLong(FIRST + 8L * i, i); }",
            "for (int i = 200; i > (int) n; i--) { sum += call.getLong(FIRST + 8L * i); }",
            "for (long i = 0; i < (int) n; i++) { sum += call.getLong(FIRST + 8 * i); }",
            "for (int i = 0; i < 200; i++) { sum += call.getLong(FIRST + 8L * i + ((int) n - n)); }",
            "for (int i = 0, j = 0; i < 200; i++, j += (int) n) { sum += j + call.getLong(FIRST + 8L * i); }",
            "int j = 0; for (int i = 0; i < 200; i++) { sum += (long) j + call.getLong(FIRST + i); j += (int) n; }",
            // Variables that begin near an edge.
            "for (int i = (int) n; i < (int) n + 100; i++) { sum += call.getLong(FIRST + 8L * (i - (int) n)); }",
            "int j = (int) n; for (int i = 0; i < 200; i++, j++) { sum += call.getLong(FIRST + 8 * (j - (long) (int) n)); }",
            "long j = n; for (int i = 0; i < 200; i++, j++) { sum += call.getLong(FIRST + 8 * ((int) j - (int) n)); }",
            "for (long i = n; i < n + 100; i++) { sum += call.getLong(FIRST + 8 * (i - n)); }",
            "for (long i = n; i > n - 100; i--) { sum += call.getLong(FIRST + 8 * (n - i)); }",
            "for (long i = n, j = 0; i < Long.MAX_VALUE && j < 100; i++, j++) { sum += call.getLong(FIRST + 8 * j); }",
        };
        long[] numbers = {
            40,
            (1L << 31) - 40,
            1L << 31,
            (1L << 31) + 40,
            (1L << 32) - 40,
            (1L << 32) + 13,
            (1L << 32) + 40,
            (-1L << 32) + 40,
            (5L << 32) + 40,
            Long.MAX_VALUE - 40,
            Long.MIN_VALUE + 40
        };
        for (String body : bodies) {
            Compiled compiled = Compiled.body("long n = call.argument(0); long sum = 0; "
                    + body.replace("FIRST", "12288") + " call.result(0, sum); return (int) sum;");
            TranslatedCode code = compiled.translated().code();
            for (long number : numbers) {
                try {
                    stage.same(compiled, code, number);
                } catch (AssertionError e) {
                    throw new AssertionError("n = " + number + ": " + body, e);
                }
            }
        }
    }

    @Test
    void anEndlessLoopRunsOutOfFuel() {
        for (String body : new String[] {
            "\nfor (;;) { }",
            "long i = 0; \nwhile (true) { i += call.getLong(i & 8); }",
            "for (;;) { for (int i = 0; i < 9; i++) { if (i == 7) { break; } }\n }"
        }) {
            Translation translation = Compiled.body(body).translated();
            stage.fuel = 10_000;
            for (Stage.Way way : Stage.Way.values()) {
                assertEquals(
                        CallStatus.OUT_OF_FUEL,
                        stage.run(translation.code(), way).status(),
                        way + body);
            }
        }
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Effort.either(2, 8));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void arithmeticIsJavas(long seed) {
        Random random = new Random(seed);
        stage.fill(random);
        same(
                Compiled.body("""
                        int i = call.argumentInt(0); long l = call.argument(8);
                        float f = Float.intBitsToFloat(call.argumentInt(4)); double d = Double.longBitsToDouble(call.argument(16));
                        int j = call.getInt(100) | 1; long k = call.getLong(4200) | 1;
                        float g = call.getInt(5000) / 3f; double e = call.getLong(8192 + 80) / 3.0;
                        i = (i + j) * (i - j) / j % (j | 4) ^ i << j ^ i >> j ^ i >>> j | i & j ^ -i ^ ~j;
                        l = (l + k) * (l - k) / k % (k | 4) ^ l << i ^ l >> i ^ l >>> i | l & k ^ -l ^ ~k;
                        f = (f + g) * (f - g) / g % (g + 4) - -f;
                        d = (d + e) * (d - e) / e % (e + 4) - -d;
                        i += (byte) l + (short) i + (char) j + (int) f + (int) d + (int) l;
                        l += (long) f + (long) d + i;
                        f += (float) d + (float) l + (float) i;
                        d += (double) f + (double) l + (double) i;
                        i += (f > g ? 1 : 0) + (f < g ? 2 : 0) + (f >= g ? 4 : 0) + (d > e ? 8 : 0) + (d < e ? 16 : 0) + (d == e ? 32 : 0);
                        i += l > k ? 64 : 0;
                        switch (i & 7) { case 0: i += 5; break; case 1: case 2: i ^= 77; case 3: i--; break; default: i++; }
                        switch (j) { case 1: return 1; case 1000: return 2; case -7: return 3; default: }
                        long[] unused = null == null ? null : null;
                        call.result(0, l); call.resultInt(8, Float.floatToIntBits(f)); call.result(12, Double.doubleToLongBits(d));
                        return i;
                        """.replaceAll(".*unused.*\n", "")),
                random.nextLong(),
                random.nextLong(),
                Double.doubleToLongBits(random.nextGaussian() * 1e9));
    }

    @Test
    void admittedMethodsOfTheJdkAreJavas() {
        Random random = new Random(9);
        List<String> statements = new ArrayList<>();
        for (PureMethod method : PureMethod.all()) {
            statements.add("call.result(" + statements.size() % 20 * 8 + ", " + bits(method) + ");\n");
        }
        assertTrue(statements.size() > 100);
        for (int i = 0; i < statements.size(); i += 20) {
            List<String> some = statements.subList(i, Math.min(i + 20, statements.size()));
            Compiled compiled = Compiled.body(String.join("", some) + "return 0;");
            same(compiled, 1, 2);
            same(compiled, random.nextLong(), random.nextLong());
            same(
                    compiled,
                    Double.doubleToLongBits(random.nextGaussian() * 9),
                    Double.doubleToLongBits(random.nextGaussian()));
        }
    }

    private static String bits(PureMethod method) {
        StringBuilder arguments = new StringBuilder();
        for (int i = 0; i < method.type().parameterCount(); i++) {
            String value = "call.argument(" + 8 * i + ")";
            arguments
                    .append(i == 0 ? "" : ", ")
                    .append(
                            switch (method.effect().charAt(i)) {
                                case 'I' -> "(int) " + value;
                                case 'J' -> value;
                                case 'F' -> "Float.intBitsToFloat((int) " + value + ")";
                                default -> "Double.longBitsToDouble(" + value + ")";
                            });
        }
        String call = method.owner().displayName() + "." + method.name() + "(" + arguments + ")";
        return switch (method.type().returnType().descriptorString()) {
            case "F" -> "Float.floatToIntBits(" + call + ")";
            case "D" -> "Double.doubleToLongBits(" + call + ")";
            case "Z" -> call + " ? 1 : 0";
            default -> call;
        };
    }

    @Test
    void wordsBeyondFourSixtyFourAreNotNeeded() {
        StringBuilder body = new StringBuilder("long s = 0;");
        for (int i = 0; i < 50; i++) {
            body.append("long v")
                    .append(i)
                    .append(" = call.getLong(")
                    .append(i * 8)
                    .append(");");
        }
        body.append("for (int i = 0; i < 3; i++) { s += call.getLong(i * 4096);");
        for (int i = 0; i < 50; i++) {
            body.append("v").append(i).append(" += s + i;");
        }
        body.append("} s = 0;");
        for (int i = 0; i < 50; i++) {
            body.append("s = s * 31 + v").append(i).append(";");
        }
        stage.fill(new Random(10));
        Compiled compiled = Compiled.body(body + "call.result(0, s); return 0;");
        try {
            same(compiled);
        } catch (RefusedProcedureException e) {
            assertTrue(e.getMessage().contains("translated it is"), e.getMessage());
        }
    }
}
