package io.farheap.procedure.translate.reading;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.attribute.LineNumberInfo;
import java.lang.classfile.attribute.LineNumberTableAttribute;
import java.util.OptionalInt;

/**
 * Finds a switch whose table ends at {@link Integer#MAX_VALUE} in the bytes of a class: the JDK's parser counts over
 * that value and fails, so a reader of its instructions never sees such a switch. Used only after the parser has failed
 * on a class, which may be no class at all.
 */
final class SwitchScan {

    private static final int WIDE = 0xC4;
    private static final int WIDE_BYTES = 4;
    private static final int WIDE_IINC_BYTES = 6;
    private static final int IINC = Opcode.IINC.bytecode();
    private static final int TABLE = Opcode.TABLESWITCH.bytecode();
    private static final int LOOKUP = Opcode.LOOKUPSWITCH.bytecode();

    private SwitchScan() {}

    /** Returns the line of the first such switch, 0 if the line is unknown; empty if there is no such switch. */
    static OptionalInt find(ClassModel model) {
        try {
            int[] lengths = lengths();
            for (MethodModel method : model.methods()) {
                CodeAttribute code = method.findAttribute(Attributes.code()).orElse(null);
                if (code != null) {
                    int at = find(code.codeArray(), lengths);
                    if (at >= 0) {
                        return OptionalInt.of(line(code, at));
                    }
                }
            }
        } catch (RuntimeException e) {
            // The bytes are not a class file: the caller says so.
        }
        return OptionalInt.empty();
    }

    /** By bytecode; 0 or less if an instruction has no fixed length. */
    private static int[] lengths() {
        int[] lengths = new int[256];
        for (Opcode opcode : Opcode.values()) {
            if (!opcode.isWide()) {
                lengths[opcode.bytecode()] = opcode.sizeIfFixed();
            }
        }
        return lengths;
    }

    /** @return the place of the switch in the code, or -1 */
    private static int find(byte[] code, int[] lengths) {
        int at = 0;
        while (at < code.length) {
            int bytecode = code[at] & 0xFF;
            int operands = (at & ~3) + 4;
            int length = lengths[bytecode];
            if (bytecode == TABLE) {
                int low = word(code, operands + 4);
                int high = word(code, operands + 8);
                if (high == Integer.MAX_VALUE) {
                    return at;
                }
                length = operands + 12 + 4 * (high - low + 1) - at;
            } else if (bytecode == LOOKUP) {
                length = operands + 8 + 8 * word(code, operands + 4) - at;
            } else if (bytecode == WIDE) {
                length = (code[at + 1] & 0xFF) == IINC ? WIDE_IINC_BYTES : WIDE_BYTES;
            }
            if (length <= 0) {
                return -1;
            }
            at += length;
        }
        return -1;
    }

    private static int word(byte[] code, int at) {
        return (code[at] & 0xFF) << 24 | (code[at + 1] & 0xFF) << 16 | (code[at + 2] & 0xFF) << 8 | code[at + 3] & 0xFF;
    }

    private static int line(CodeAttribute code, int at) {
        int line = 0;
        int from = -1;
        LineNumberTableAttribute table =
                code.findAttribute(Attributes.lineNumberTable()).orElse(null);
        if (table != null) {
            for (LineNumberInfo info : table.lineNumbers()) {
                if (info.startPc() <= at && info.startPc() > from) {
                    from = info.startPc();
                    line = info.lineNumber();
                }
            }
        }
        return line;
    }
}
