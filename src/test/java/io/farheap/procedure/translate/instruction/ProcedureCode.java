package io.farheap.procedure.translate.instruction;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** Class files to mutate. */
public final class ProcedureCode {

    private ProcedureCode() {}

    /** Where the code of {@code run} begins, and its length. */
    public static int[] code(byte[] bytes) {
        byte[] code = ClassFile.of().parse(bytes).methods().stream()
                .filter(method -> method.methodName().equalsString("run"))
                .map(method ->
                        method.findAttribute(Attributes.code()).orElseThrow().codeArray())
                .findFirst()
                .orElseThrow();
        for (int at = 0; at + code.length <= bytes.length; at++) {
            if (java.util.Arrays.equals(bytes, at, at + code.length, code, 0, code.length)) {
                return new int[] {at, code.length};
            }
        }
        throw new AssertionError("the code is not in the class file");
    }

    /**
     * A class file of a version that has no stack maps, so that its branches may lead anywhere: it has loops that can
     * be entered at several places, with operands on the stack at their heads.
     */
    public static byte[] withManyLabels() {
        ClassFile.Option[] options = {ClassFile.StackMapsOption.DROP_STACK_MAPS, ClassFile.DeadCodeOption.KEEP_DEAD_CODE
        };
        ClassDesc call = Type.CALL_CLASS;
        return ClassFile.of(options).build(ClassDesc.of("P"), type -> type.withVersion(ClassFile.JAVA_5_VERSION, 0)
                .withMethodBody(
                        "run",
                        MethodTypeDesc.of(ConstantDescs.CD_int, call),
                        ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                        code -> {
                            Label[] labels = {code.newLabel(), code.newLabel(), code.newLabel(), code.newLabel()};
                            code.iconst_0().istore(1).lconst_1();
                            for (int i = 0; i < 12; i++) {
                                if (i % 3 == 0) {
                                    code.labelBinding(labels[i / 3]);
                                }
                                code.aload(0)
                                        .iload(1)
                                        .i2l()
                                        .invokeinterface(
                                                call,
                                                "getLong",
                                                MethodTypeDesc.of(ConstantDescs.CD_long, ConstantDescs.CD_long))
                                        .ladd()
                                        .iinc(1, 8)
                                        .iload(1)
                                        .bipush(16 + 8 * i)
                                        .if_icmplt(labels[(i * 7 + 2) % 4]);
                            }
                            code.l2i().ireturn();
                        }));
    }
}
