package io.farheap.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.slo.ModelSubject;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ModelStoreTest {

    @Test
    void everySubjectHasAFileOfItsOwn() {
        ModelSubject one = new ModelSubject("soft0 (soft), connectx5", "AMD EPYC, 2 cores", 0, 8, 50, 1, 14);
        List<String> names = Stream.of(
                        one,
                        one.coded("failure-recovery 8+2 Δ=1, pages of 4096 bytes"),
                        one.coded("failure-recovery 8+2 Δ=0, pages of 4096 bytes"),
                        new ModelSubject("soft0 (soft)", "AMD EPYC, 2 cores", 0, 8, 50, 1, 14),
                        new ModelSubject("soft0 (soft), connectx5", "AMD EPYC, 4 cores", 0, 8, 50, 1, 14),
                        new ModelSubject("soft0 (soft), connectx5", "AMD EPYC, 2 cores", 1, 8, 50, 1, 14),
                        new ModelSubject("soft0 (soft), connectx5", "AMD EPYC, 2 cores", 0, 16, 50, 1, 14),
                        new ModelSubject("soft0 (soft), connectx5", "AMD EPYC, 2 cores", 0, 8, 90, 1, 14),
                        new ModelSubject("soft0 (soft), connectx5", "AMD EPYC, 2 cores", 0, 8, 50, 2, 14),
                        new ModelSubject("soft0 (soft), connectx5", "AMD EPYC, 2 cores", 0, 8, 50, 1, 8))
                .map(ModelStore::name)
                .toList();
        assertEquals(names.size(), names.stream().distinct().count());
        assertTrue(names.getFirst().matches("soft0-soft-connectx5-8b-50r-1c-[0-9a-f]{8}\\.v\\d+"), names.getFirst());
    }
}
