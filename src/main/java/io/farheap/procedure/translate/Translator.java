package io.farheap.procedure.translate;

import io.farheap.procedure.translate.flow.Inliner;
import io.farheap.procedure.translate.flow.TypeFlow;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.RefusalMessages;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.reading.ClassReader;
import io.farheap.procedure.translate.reading.ProcedureClass;
import io.farheap.procedure.translate.reading.UserMethod;
import io.farheap.procedure.translate.running.CodeShape;
import io.farheap.procedure.translate.running.TranslatedCode;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.procedure.translate.weaving.LinkedProcedure;
import io.farheap.procedure.translate.weaving.Weaver;
import org.jspecify.annotations.Nullable;

/**
 * Translates a user's class into {@link TranslatedCode}: reads it, verifies its types, puts its methods in the place of
 * their calls, and writes a class that can be suspended and whose time is bounded. Stateless; any thread.
 */
public final class Translator {

    private Translator() {}

    /**
     * Limits of a translation; a class above one of them is refused.
     *
     * @param classBytes most bytes of the class file
     * @param translatedBytes most bytecode of each method that is written: HotSpot compiles no method above 8,000 bytes
     */
    public record Limits(int classBytes, int translatedBytes) {

        public static final Limits DEFAULT = new Limits(64 << 10, 8000);
    }

    /**
     * Reads, verifies and translates a class.
     *
     * @param classFile any bytes: nothing in them is trusted
     * @throws RefusedProcedureException if the class is not in the subset, or exceeds a limit
     */
    public static Translation translate(byte[] classFile, Limits limits) {
        if (classFile.length > limits.classBytes()) {
            throw new RefusedProcedureException(
                    "a class file of " + classFile.length + " bytes; at most " + limits.classBytes());
        }
        // Each instruction is translated to at least one byte.
        ProcedureClass procedure = ClassReader.read(classFile, limits.translatedBytes());
        RefusalMessages refusal = new RefusalMessages(procedure.name());
        for (UserMethod method : procedure.methods()) {
            TypeFlow.of(
                    refusal,
                    method.ops(),
                    method.parameters(),
                    method.locals(),
                    method.result(),
                    procedure.methods()::get);
        }
        return translate(procedure, refusal, limits);
    }

    private static Translation translate(ProcedureClass procedure, RefusalMessages refusal, Limits limits) {
        Inliner.FlatCode flat = Inliner.inline(refusal, procedure, limits.translatedBytes());
        UserMethod run = procedure.methods().get(procedure.run());
        // Resume points need the types of the inlined code. This pass does not fail: methods that are well typed one by
        // one are well typed when inlined.
        @Nullable
        Operands[] reached = TypeFlow.of(
                refusal, flat.ops(), run.parameters(), flat.locals(), run.result(), procedure.methods()::get);
        LinkedProcedure program = new LinkedProcedure(refusal, flat, reached);
        byte[] written = write(program, refusal, limits);
        CodeShape shape = program.shape();
        return new Translation(
                procedure.name(),
                program.writes,
                program.points.size(),
                Weaver.codeBytes(written),
                program.loops(),
                TranslatedCode.load(written, shape));
    }

    private static byte[] write(LinkedProcedure program, RefusalMessages refusal, Limits limits) {
        if (!program.ahead.isEmpty()) {
            try {
                byte[] written = Weaver.write(program, true);
                if (Weaver.codeBytes(written) <= limits.translatedBytes()) {
                    return written;
                }
            } catch (IllegalArgumentException e) {
                // The prechecked loops only make the code faster: without them it may fit.
            }
        }
        int bytes;
        byte[] written;
        try {
            written = Weaver.write(program, false);
            bytes = Weaver.codeBytes(written);
        } catch (IllegalArgumentException e) {
            throw refusal.of("translated it is more than 65,535 bytes; at most " + limits.translatedBytes());
        }
        if (bytes > limits.translatedBytes()) {
            throw refusal.of("translated it is " + bytes + " bytes, with " + program.points.size()
                    + " resume points; at most " + limits.translatedBytes());
        }
        return written;
    }
}
