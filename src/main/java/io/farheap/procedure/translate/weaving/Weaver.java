package io.farheap.procedure.translate.weaving;

import io.farheap.procedure.translate.flow.PrecheckedLoop;
import io.farheap.procedure.translate.running.CodeShape;
import io.farheap.procedure.translate.running.TranslatedCode;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;

/** Writes the class of a procedure: {@code fast}, {@code step}, and a method for each loop with counted turns. */
public final class Weaver {

    private static final ClassDesc PARENT =
            TranslatedCode.class.describeConstable().orElseThrow();
    private static final ClassDesc SHAPE = CodeShape.class.describeConstable().orElseThrow();
    private static final MethodTypeDesc CONSTRUCTOR = MethodTypeDesc.of(ConstantDescs.CD_void, SHAPE);
    private static final MethodTypeDesc RUN =
            MethodTypeDesc.of(ConstantDescs.CD_int, CallWeaver.FRAME, ConstantDescs.CD_int);

    private Weaver() {}

    /**
     * Writes the class.
     *
     * @param ahead whether to write counted turns for the loops that allow it
     * @throws IllegalArgumentException if a method exceeds 65,535 bytes
     */
    public static byte[] write(LinkedProcedure program, boolean ahead) {
        return ClassFile.of().build(CallWeaver.PROCEDURE, type -> {
            type.withSuperclass(PARENT)
                    .withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER)
                    .withMethodBody(ConstantDescs.INIT_NAME, CONSTRUCTOR, 0, code -> code.aload(0)
                            .aload(1)
                            .invokespecial(PARENT, ConstantDescs.INIT_NAME, CONSTRUCTOR)
                            .return_())
                    .withMethodBody("fast", RUN, 0, code -> new MethodWeaver(program, false, ahead, code).weave())
                    .withMethodBody("step", RUN, 0, code -> new MethodWeaver(program, true, false, code).weave());
            for (PrecheckedLoop loop : ahead ? program.ahead : List.<PrecheckedLoop>of()) {
                type.withMethodBody(
                        PrecheckedLoopWeaver.name(loop), PrecheckedLoopWeaver.METHOD, 0, code -> new MethodWeaver(
                                        program, false, false, code)
                                .weaveTurns(loop));
            }
        });
    }

    /** Bytecode length of the longest method. */
    public static int codeBytes(byte[] written) {
        int most = 0;
        for (MethodModel method : ClassFile.of().parse(written).methods()) {
            most = Math.max(
                    most, method.findAttribute(Attributes.code()).orElseThrow().codeLength());
        }
        return most;
    }
}
