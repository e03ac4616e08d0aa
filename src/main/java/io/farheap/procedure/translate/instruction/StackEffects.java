package io.farheap.procedure.translate.instruction;

import java.lang.classfile.Opcode;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The operands that admitted instructions pop and push, in the letters of {@link Type}: {@code "JI>J"} pops an int and
 * the long below it, and pushes a long. Instructions that move operands of any type are in {@link Operands}.
 */
public final class StackEffects {

    private static final Map<Opcode, String> EFFECTS = new EnumMap<>(Opcode.class);

    static {
        put(
                "II>I",
                Opcode.IADD,
                Opcode.ISUB,
                Opcode.IMUL,
                Opcode.IDIV,
                Opcode.IREM,
                Opcode.IAND,
                Opcode.IOR,
                Opcode.IXOR);
        put("II>I", Opcode.ISHL, Opcode.ISHR, Opcode.IUSHR);
        put(
                "JJ>J",
                Opcode.LADD,
                Opcode.LSUB,
                Opcode.LMUL,
                Opcode.LDIV,
                Opcode.LREM,
                Opcode.LAND,
                Opcode.LOR,
                Opcode.LXOR);
        put("JI>J", Opcode.LSHL, Opcode.LSHR, Opcode.LUSHR);
        put("FF>F", Opcode.FADD, Opcode.FSUB, Opcode.FMUL, Opcode.FDIV, Opcode.FREM);
        put("DD>D", Opcode.DADD, Opcode.DSUB, Opcode.DMUL, Opcode.DDIV, Opcode.DREM);
        put("I>I", Opcode.INEG, Opcode.I2B, Opcode.I2C, Opcode.I2S);
        put("J>J", Opcode.LNEG);
        put("F>F", Opcode.FNEG);
        put("D>D", Opcode.DNEG);
        put("I>J", Opcode.I2L);
        put("I>F", Opcode.I2F);
        put("I>D", Opcode.I2D);
        put("J>I", Opcode.L2I);
        put("J>F", Opcode.L2F);
        put("J>D", Opcode.L2D);
        put("F>I", Opcode.F2I);
        put("F>J", Opcode.F2L);
        put("F>D", Opcode.F2D);
        put("D>I", Opcode.D2I);
        put("D>J", Opcode.D2L);
        put("D>F", Opcode.D2F);
        put("JJ>I", Opcode.LCMP);
        put("FF>I", Opcode.FCMPL, Opcode.FCMPG);
        put("DD>I", Opcode.DCMPL, Opcode.DCMPG);
        put("I>", Opcode.IFEQ, Opcode.IFNE, Opcode.IFLT, Opcode.IFGE, Opcode.IFGT, Opcode.IFLE);
        put("II>", Opcode.IF_ICMPEQ, Opcode.IF_ICMPNE, Opcode.IF_ICMPLT, Opcode.IF_ICMPGE);
        put("II>", Opcode.IF_ICMPGT, Opcode.IF_ICMPLE);
        put(">", Opcode.GOTO, Opcode.GOTO_W, Opcode.NOP);
    }

    private StackEffects() {}

    private static void put(String effect, Opcode... opcodes) {
        for (Opcode opcode : opcodes) {
            EFFECTS.put(opcode, effect);
        }
    }

    /** The effect, or null if the instruction is not admitted, or moves operands. */
    public static @Nullable String of(Opcode opcode) {
        return EFFECTS.get(opcode);
    }

    /** Whether it divides integers: the second operand must not be 0. */
    public static boolean divides(Opcode opcode) {
        return switch (opcode) {
            case IDIV, IREM, LDIV, LREM -> true;
            default -> false;
        };
    }

    /** Units of fuel. */
    public static int fuel(Op op) {
        if (op instanceof Op.Plain plain) {
            return switch (plain.opcode()) {
                case IDIV, IREM, LDIV, LREM -> 8;
                case FDIV, DDIV -> 4;
                case FREM, DREM -> 64;
                default -> 1;
            };
        }
        if (op instanceof Op.ApiCall on) {
            return on.method().fuel;
        }
        if (op instanceof Op.PureMethodCall pure) {
            return pure.method().fuel();
        }
        return op instanceof Op.Select ? 3 : 1;
    }
}
