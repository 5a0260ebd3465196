import { main } from './entry.ts';

main();
