package io.farheap.procedure.translate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.instruction.Type;
import io.farheap.procedure.translate.running.Translation;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A class outside the subset is refused with a message that names the place. */
class RefusedTest {

    private static final String RUN = "public static int run(Call call) { return 0; }";
    private static final ClassDesc P = ClassDesc.of("P");

    private static String refusal(byte[] bytes) {
        return assertThrows(
                        RefusedProcedureException.class, () -> Translator.translate(bytes, Translator.Limits.DEFAULT))
                .getMessage();
    }

    private static void refuses(String source, String... parts) {
        String message = refusal(Compiled.bytes("P", source));
        for (String part : parts) {
            assertTrue(message.contains(part), () -> message + " has no " + part);
        }
    }

    private static void members(String members, String... parts) {
        refuses("import io.farheap.procedure.Call; public class P {" + members + "}", parts);
    }

    private static void body(String body, String... parts) {
        members("public static int run(Call call) {\n" + body + "}", parts);
    }

    @Test
    void instructions() {
        body("Object o = new Object(); return 0;", "P, line 2: new: objects are not in the subset");
        body("int[] a = new int[3]; return a[0];", "line 2: newarray: arrays");
        body("long[][] a = new long[3][4]; return 0;", "line 2: multianewarray: arrays");
        body("String[] a = new String[3]; return 0;", "line 2: anewarray: arrays");
        body("return 3 +\nString.valueOf(3).length();", "line 3", "java.lang.String.valueOf", "neither");
        body("Runnable r = () -> {}; return 0;", "invokedynamic");
        body("String s = \"x\" + call.argument(0); return 0;", "line 2", "invokedynamic");
        body("throw new RuntimeException();", "line 2", "objects");
        body("try { return 1 / call.argumentInt(0); } catch (ArithmeticException e) { return 2; }", "try, catch");
        body("synchronized (call) { return 1; }", "try, catch and synchronized");
        body("call = null; return 0;", "line 2", "constants are primitive");
        body("return call == null ? 1 : 0;", "line 2", "references are not compared");
        body("return call.hashCode();", "line 2", "Call.hashCode");
        body("System.exit(1); return 0;", "line 2", "System.exit");
        body("return (int) System.nanoTime();", "System.nanoTime");
        body("return (int) Math.random();", "Math.random");
        body("return Math.addExact(1, call.argumentInt(0));", "Math.addExact");
        body("return call instanceof Object ? 1 : 0;", "line 2");
        body("Thread.onSpinWait(); return 0;", "java.lang.Thread.onSpinWait");
    }

    /** The JDK's parser cannot read such a switch. */
    @Test
    void aSwitchToTheGreatestInt() {
        body("""
                int kind = call.argumentInt(0);
                switch (kind + 1) {
                    case 1: kind = 10; break;
                    case 2: kind = 11; break;
                    case 3: kind = 12; break;
                    default: kind += 300;
                }
                switch (kind) {
                    case 5: return 5;
                    case 500000: return 6;
                    default:
                }
                switch (kind) {
                    case Integer.MAX_VALUE - 2: return 1;
                    case Integer.MAX_VALUE - 1: return 2;
                    case Integer.MAX_VALUE: return 3;
                    default: return 4;
                }
                """, "P, line 14: tableswitch: a switch goes up to Integer.MAX_VALUE; write its last case as an if");
        String none = refusal(new byte[] {1, 2, 3});
        assertTrue(none.contains("not a class file"), none);
    }

    @Test
    void members() {
        members("static long kept;" + RUN, "field kept", "fields are not in the subset");
        members("long kept;" + RUN, "field kept");
        members("static final Object LOCK = null;" + RUN, "field LOCK");
        members("static final String NAME = \"x\";" + RUN, "field NAME");
        members("static final long NOW = System.nanoTime();" + RUN, "field NOW");
        members("static { System.out.println(); }" + RUN, "<clinit>", "initialisers");
        members("long get(Call call) { return 0; }" + RUN, "method get", "must be static");
        members("static synchronized long get() { return 0; }" + RUN, "must not be synchronized");
        members("static native long get();" + RUN, "must not be native");
        members("static long get(String s) { return 0; }" + RUN, "a parameter is a String");
        members("static Object get() { return null; }" + RUN, "it returns a Object");
        members("static Call get(Call call) { return call; }" + RUN, "it returns a Call");
        members("P(int x) {}" + RUN, "a constructor must be empty");
        members("P() { System.out.println(); }" + RUN, "a constructor must be empty");
        members("static void run() { }", "there is no static int run(io.farheap.procedure.Call)");
        members("static long run(Call call) { return 0; }", "there is no static int run");
        refuses("public class P extends Thread {}", "its superclass is java/lang/Thread");
        refuses("public class P implements Runnable { public void run() {} }", "implements an interface");
        refuses("public interface P { }", "not an interface");
        refuses("public enum P { A }", "its superclass is java/lang/Enum");
        refuses("public record P() { }", "its superclass is java/lang/Record");
    }

    @Test
    void recursion() {
        members(
                "static int f(int i) {\n return i == 0 ? 0 : f(i - 1); }"
                        + "public static int run(Call call) { return f(3); }",
                "line 2",
                "recursion");
        members(
                "static int f(int i) { return g(i); } static int g(int i) { return f(i); }"
                        + "public static int run(Call call) { return f(3); }",
                "recursion");
    }

    @Test
    void aDoublingChainIsRefusedBeforeItIsBuilt() {
        StringBuilder members = new StringBuilder("static long f0(Call c, long x) { return c.getLong(x); }");
        for (int i = 1; i < 60; i++) {
            members.append(
                    "static long f%d(Call c, long x) { return f%d(c, x) + f%d(c, x + 8); }".formatted(i, i - 1, i - 1));
        }
        members(members + "public static int run(Call call) { return (int) f59(call, 0); }", "would be too large");
        StringBuilder chain = new StringBuilder("static int f0(int x) { return x; }");
        for (int i = 1; i < 100; i++) {
            chain.append("static int f%d(int x) { return f%d(x); }".formatted(i, i - 1));
        }
        members(chain + "public static int run(Call call) { return f99(1); }", "nested more than 64 deep");
    }

    @Test
    void tooLarge() {
        StringBuilder body = new StringBuilder("long s = 0;");
        for (int i = 0; i < 500; i++) {
            body.append("s += call.getLong(").append(i * 8).append(");");
        }
        body(body + "return (int) s;", "translated it is", "at most 8000");
        byte[] bytes = new byte[70_000];
        assertTrue(refusal(bytes).contains("70000 bytes; at most 65536"), refusal(bytes));
        StringBuilder locals = new StringBuilder();
        for (int i = 0; i < 70; i++) {
            locals.append("long v")
                    .append(i)
                    .append(" = call.argument(")
                    .append(i * 8)
                    .append(");\n");
        }
        locals.append("long s = call.getLong(0);");
        for (int i = 0; i < 70; i++) {
            locals.append("s += v").append(i).append(";");
        }
        body(locals + "return (int) s;", "line 72", "70 local variables and operands are needed", "at most 64");
    }

    @Test
    void notAClass() {
        for (byte[] bytes : new byte[][] {{}, {1, 2, 3}, "no class".getBytes(StandardCharsets.UTF_8), new byte[100]}) {
            assertTrue(refusal(bytes).contains("not a class file"), refusal(bytes));
        }
    }

    /** Code that javac does not write. */
    private static String code(Consumer<CodeBuilder> code) {
        ClassFile.Option[] options = {ClassFile.StackMapsOption.DROP_STACK_MAPS, ClassFile.DeadCodeOption.KEEP_DEAD_CODE
        };
        byte[] bytes = ClassFile.of(options)
                // Labels of later versions are read from stack maps.
                .build(P, type -> type.withVersion(ClassFile.JAVA_5_VERSION, 0)
                        .withMethodBody(
                                "run",
                                MethodTypeDesc.of(ConstantDescs.CD_int, Type.CALL_CLASS),
                                ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                                code));
        return refusal(bytes);
    }

    private static void refusesCode(String part, Consumer<CodeBuilder> code) {
        String message = code(code);
        assertTrue(message.contains(part), () -> message + " has no " + part);
    }

    @Test
    void typesThatDoNotFit() {
        refusesCode("an operand is missing", c -> c.ireturn());
        refusesCode("an operand is LONG and should be INT", c -> c.lconst_0().ireturn());
        refusesCode("local variable 1", c -> c.iload(1).ireturn());
        refusesCode("ends without a return", c -> c.iconst_0());
        refusesCode("it parts a LONG", c -> c.lconst_0().pop().iconst_0().ireturn());
        refusesCode("left over", c -> c.iconst_0().iconst_0().ireturn());
        refusesCode("CALL", c -> c.aload(0).ireturn());
        refusesCode("ways that meet here have", c -> {
            Label label = c.newLabel();
            c.iconst_0().ifeq(label).iconst_1().labelBinding(label).iconst_0().ireturn();
        });
        refusesCode("local variable 1 has no LONG on each way here", c -> {
            Label label = c.newLabel();
            c.iconst_0().ifeq(label).lconst_1().lstore(1).labelBinding(label);
            c.lload(1).l2i().ireturn();
        });
        // The second word of a long is no value of its own, and a store to it makes the long invalid.
        refusesCode("local variable 2", c -> c.lconst_0().lstore(1).iload(2).ireturn());
        refusesCode(
                "local variable 1",
                c -> c.lconst_0().lstore(1).iconst_0().istore(2).lload(1).l2i().ireturn());
    }

    @Test
    void whatIsAdmittedSaysWhatItIs() {
        Translation translation = Translator.translate(Compiled.bytes("a.Sum", """
                        package a;
                        public final class Sum {
                            public static int run(io.farheap.procedure.Call call) {
                                long sum = 0;
                                for (long at = 0; at < 100; at += 8) {
                                    sum += call.getLong(at);
                                    for (int i = 0; i < 3; i++) {
                                        sum++;
                                    }
                                }
                                return (int) sum;
                            }
                        }
                        """), Translator.Limits.DEFAULT);
        assertEquals("a.Sum", translation.name());
        assertFalse(translation.writes());
        assertEquals(3, translation.resumePoints());
        assertEquals(2, translation.loops().size());
        assertEquals(5, translation.loops().get(0).line());
        assertEquals(1, translation.loops().get(0).depth());
        assertEquals(7, translation.loops().get(1).line());
        assertEquals(2, translation.loops().get(1).depth());
        assertTrue(translation.loops().get(1).fuelPerTurn() > 0);
        assertTrue(Compiled.body("call.putByte(0, (byte) 1); return 0;")
                .translated()
                .writes());
        assertTrue(Compiled.body("call.getAndAdd(0, 1); return 0;").translated().writes());
    }
}
